// The part of a run's page that only sweeps have: curves that fill as points come, and a table of runs.

import { Chart } from "../chart";
import { Children } from "../children";
import { axes, bestX, curves, FIGURES, type Figure } from "../curves";
import { choice, fill, h } from "../dom";
import { figure, isActive } from "../format";
import type { Run } from "../generated/tailback/v1/run_pb";
import { progressBar, stateBadge } from "./run_list";

/** Rows of the table: those of more runs are in the files. */
const ROWS_MAX = 500;

export class SweepPart {
    readonly element = h("section", { "aria-label": "Curves" });
    private readonly chart = new Chart({ title: "Curves", x: "", y: "", points: true, height: 340 });
    private readonly table = h("table", {});
    private readonly controls = h("div", { class: "bar" });
    private readonly children: Children;
    private x = "";
    private figure: Figure = "latencyMean";
    private shape = "";

    constructor(run: Run) {
        this.children = new Children(run.id, () => this.draw());
        fill(this.element, h("h2", {}, "Curves"), this.controls, this.chart.element, h("h2", {}, "Runs"), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs of the sweep" }, this.table));
    }

    stop(): void {
        this.children.stop();
        this.chart.stop();
    }

    refresh(): void {
        this.children.refresh();
    }

    put(_run: Run): void {
        this.refresh();
    }

    private draw(): void {
        const points = this.children.points;
        const varied = axes(points);
        this.x ||= bestX(points) ?? "";
        const shape = JSON.stringify([varied, points.length]);
        if (shape !== this.shape) {
            this.shape = shape;
            const numeric = varied.filter((path) => points.every(({ set }) => Number.isFinite(Number(set.get(path) ?? "?"))));
            fill(
                this.controls,
                choice("Over", numeric.map((path) => [path, path]), this.x, (path) => {
                    this.x = path;
                    this.drawCurves();
                }),
                choice("Figure", FIGURES.map(([name, text]) => [name, text]), this.figure, (name) => {
                    this.figure = name as Figure;
                    this.drawCurves();
                }),
            );
        }
        this.drawCurves();
        this.drawTable(varied);
    }

    private drawCurves(): void {
        this.chart.name({ x: this.x, y: FIGURES.find(([name]) => name === this.figure)?.[2] ?? "" });
        this.chart.set(this.x ? curves(this.children.points, this.x, this.figure) : []);
    }

    private drawTable(varied: string[]): void {
        const heading = ["Run", ...varied, "Seed", "State", "Accepted load", "Mean latency", "p99"];
        const rows = this.children.points.slice(0, ROWS_MAX).map(({ run, set }) => {
            const link = h("a", { href: `#/run/${encodeURIComponent(run.id)}` }, run.id);
            const numbers = [run.summary?.acceptedLoad, run.summary?.latencyMean, run.summary?.latencyP99].map((value) => h("td", { class: "number" }, figure(value)));
            return h("tr", {}, h("td", {}, link), varied.map((path) => h("td", {}, set.get(path) ?? "")), h("td", {}, set.get("seed") ?? ""), h("td", {}, stateBadge(run), isActive(run) && progressBar(run), run.note && h("span", { class: "quiet" }, ` ${run.note}`)), numbers);
        });
        const focused = document.activeElement instanceof HTMLAnchorElement ? document.activeElement.hash : undefined;
        fill(this.table, h("thead", {}, h("tr", {}, heading.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows));
        if (focused) [...this.table.querySelectorAll("a")].find((link) => link.hash === focused)?.focus();
    }
}
