// Several runs beside each other: their figures, what is measured while they go on and over time, and the curves of sweeps.

import { Chart, type Line } from "../chart";
import { Children } from "../children";
import { bestX, curves, FIGURES, type Figure } from "../curves";
import { choice, fill, h, type View } from "../dom";
import { figure, isSweep } from "../format";
import { type Run, RunState, type Summary } from "../generated/tailback/v1/run_pb";
import { go } from "../places";
import { type Measure, Samples, sampleCharts } from "../samples";
import { COMPARED_MAX, compared, setCompared } from "../selection";
import { Series } from "../series";
import { CALL_MS, call, once, results, runs, words } from "../server";
import { watch } from "../watch";
import { stateBadge } from "./run_list";

const ROWS: [string, (summary: Summary) => number | undefined][] = [
    ["Offered load", (summary) => summary.offeredLoad],
    ["Accepted load", (summary) => summary.acceptedLoad],
    ["Mean latency", (summary) => summary.latencyMean],
    ["99 % within", (summary) => summary.latencyP99],
    ["Hops", (summary) => summary.hopsMean],
    ["Seconds simulated in", (summary) => summary.wallS],
];

interface Compared {
    name: string;
    colour: number;
    run?: Run;
    samples: Samples;
    children?: Children;
    /** What was measured over time, if the run has kept that and has ended. */
    series?: Series;
    problem?: string;
}

export function compare(names: string[]): View {
    return new Comparison(names.length > 0 ? names : compared());
}

class Comparison implements View {
    readonly title = "Compare";
    readonly element: HTMLElement;
    private readonly controller = new AbortController();
    private readonly all: Compared[];
    private readonly charts = sampleCharts();
    private readonly sweeps = new Chart({ title: "Curves of sweeps", x: "", y: "", points: true, height: 340 });
    private readonly overTime = new Chart({ title: "Time series", x: "link cycle", y: "", height: 340 });
    private readonly table = h("table", { class: "compared" });
    private readonly live = h("div", { class: "charts", hidden: true });
    private readonly curves = h("div", { hidden: true });
    private readonly series = h("section", { "aria-label": "Time series", hidden: true });
    private column = "";
    private readonly none = h("p", { class: "nothing", hidden: true });
    private figure: Figure = "latencyMean";

    constructor(names: string[]) {
        setCompared(names);
        this.all = compared().map((name, colour) => ({ name, colour, samples: new Samples() }));
        const { load, latency, packets, speed } = this.charts;
        fill(this.live, load.element, latency.element, packets.element, speed.element);
        const figures = choice("Figure", FIGURES.map(([name, text]) => [name, text]), this.figure, (name) => {
            this.figure = name as Figure;
            this.draw();
        });
        fill(this.curves, h("div", { class: "bar" }, figures), this.sweeps.element);
        const scroll = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Figures" }, this.table);
        this.element = h("section", { class: "compare" }, h("div", { class: "bar" }, h("h1", {}, "Compare"), this.adding()), this.none, scroll, this.curves, this.series, this.live);
        this.none.hidden = this.all.length > 0;
        fill(this.none, "Choose runs in the ", h("a", { href: "#/" }, "list"), " (Space), or write their names here.");
        for (const one of this.all) void this.follow(one);
        this.draw();
    }

    stop(): void {
        this.controller.abort();
        for (const one of this.all) one.children?.stop();
        for (const chart of [...Object.values(this.charts), this.sweeps, this.overTime]) chart.stop();
    }

    private adding(): HTMLElement {
        const input = h("input", { placeholder: "Name of a run", "aria-label": "Name of a run", spellcheck: "false", disabled: this.all.length >= COMPARED_MAX });
        const add = (event: Event) => {
            event.preventDefault();
            if (input.value.trim()) go("compare", ...this.all.map(({ name }) => name), input.value.trim());
        };
        return h("form", { class: "adding", onsubmit: add }, input, h("button", {}, "Add"));
    }

    private leaveOut(name: string): void {
        const names = this.all.map((one) => one.name).filter((other) => other !== name);
        setCompared(names);
        go("compare", ...names);
    }

    private async follow(one: Compared): Promise<void> {
        const { signal } = this.controller;
        await once(signal, async () => {
            try {
                const { run } = await call(runs.getRun({ runId: one.name }, { signal, timeoutMs: CALL_MS }));
                one.run = run;
                if (run && isSweep(run)) one.children = new Children(one.name, () => this.draw());
            } catch (error) {
                if (words(error) === "the server does not answer") throw error;
                one.problem = words(error);
            }
            this.draw();
        });
    }

    /** Begins to watch a run as soon as it is known. */
    private watched(one: Compared): void {
        const again = () => this.draw();
        const watcher = {
            run: (run: Run) => {
                one.run = run;
                again();
            },
            sample: (sample: Parameters<Samples["put"]>[0]) => {
                one.samples.put(sample);
                again();
            },
            child: () => one.children?.refresh(),
            restart: () => one.samples.clear(),
        };
        void watch(one.name, watcher, this.controller.signal);
    }

    /** Reads what a run that has ended has measured over time, if it was to. */
    private async readSeries(one: Compared): Promise<void> {
        const { signal } = this.controller;
        await once(signal, async () => {
            try {
                one.series = new Series(await call(results.querySeries({ runId: one.name }, { signal, timeoutMs: CALL_MS })));
            } catch (error) {
                if (words(error) === "the server does not answer") throw error;
            }
        });
        if (one.series) this.chooseColumn();
        this.draw();
    }

    /** What may be drawn over time: what any of the runs has. */
    private chooseColumn(): void {
        const names = [...new Set(this.all.flatMap(({ series }) => series?.names ?? []))];
        if (!names.includes(this.column)) this.column = Series.first(names);
        const columns = choice("Column", names.map((name) => [name, name]), this.column, (name) => {
            this.column = name;
            this.draw();
        });
        fill(this.series, h("h2", {}, "Time series"), h("div", { class: "bar" }, columns), this.overTime.element);
    }

    private drawSeries(): void {
        const lines = this.all.flatMap(({ name, colour, series }) => {
            const flows = series?.lines(this.column) ?? [];
            // The flows of a run share its colour; all but the first are dashed.
            return flows.map((line, place) => ({ ...line, name: flows.length > 1 ? `${name}: ${line.name}` : name, colour, dashed: place > 0 }));
        });
        this.series.hidden = lines.length === 0;
        if (lines.length > 0) this.overTime.set(lines);
    }

    private readonly isRead = new Set<string>();
    private readonly isWatched = new Set<string>();
    private frame = 0;

    private draw(): void {
        for (const one of this.all) {
            if (one.run?.state === RunState.SUCCEEDED && !isSweep(one.run) && !this.isRead.has(one.name)) {
                this.isRead.add(one.name);
                void this.readSeries(one);
            }
            if (!one.run || this.isWatched.has(one.name)) continue;
            this.isWatched.add(one.name);
            this.watched(one);
        }
        cancelAnimationFrame(this.frame);
        this.frame = requestAnimationFrame(() => this.drawNow());
    }

    private drawNow(): void {
        if (this.controller.signal.aborted) return;
        this.drawTable();
        const measured = this.all.filter(({ samples }) => samples.length > 0);
        const lines = (measure: Measure, suffix = "", dashed = false): Line[] => measured.map(({ name, colour, samples }) => samples.line(measure, name + suffix, colour, dashed));
        this.live.hidden = measured.length === 0;
        if (measured.length > 0) {
            this.charts.load.set(lines("acceptedLoad"));
            this.charts.latency.set([...lines("latencyMean"), ...lines("latencyP99", " p99", true)]);
            this.charts.packets.set(lines("packetsInFlight"));
            this.charts.speed.set(lines("cyclesPerSecond"));
        }
        this.drawSeries();
        this.drawCurves();
    }

    private drawCurves(): void {
        const sweeps = this.all.flatMap(({ name, children }) => (children && children.points.length > 0 ? [{ name, points: children.points }] : []));
        this.curves.hidden = sweeps.length === 0;
        const [first] = sweeps;
        const x = first && bestX(first.points);
        if (!x) return;
        this.sweeps.name({ x, y: FIGURES.find(([name]) => name === this.figure)?.[2] ?? "" });
        const lines = sweeps.flatMap(({ name, points }) => curves(points, x, this.figure, sweeps.length > 1 ? name : ""));
        this.sweeps.set(lines.map((line, colour) => ({ ...line, colour })));
    }

    private drawTable(): void {
        const [first] = this.all;
        const head = this.all.map((one) => {
            const out = h("button", { class: "plain", "aria-label": `leave out ${one.name}`, onclick: () => this.leaveOut(one.name) }, "×");
            const mark = h("span", { class: "mark", "aria-hidden": "true" });
            mark.style.background = `var(--line-${one.colour})`;
            return h("th", { scope: "col" }, mark, h("a", { href: `#/run/${encodeURIComponent(one.name)}` }, one.name), out);
        });
        const states = this.all.map((one) => h("td", {}, one.run ? stateBadge(one.run) : h("span", { class: "quiet" }, one.problem ?? "…")));
        const digests = this.all.map((one) => {
            const isSame = one !== first && one.run?.resultDigest && one.run.resultDigest === first?.run?.resultDigest;
            return h("td", {}, h("code", {}, one.run?.resultDigest.slice(0, 12) ?? ""), isSame && h("span", { class: "quiet" }, " the same"));
        });
        const rows = ROWS.map(([name, of]) => {
            const base = first?.run?.summary && of(first.run.summary);
            const cells = this.all.map((one) => {
                const value = one.run?.summary && of(one.run.summary);
                const difference = one !== first && base && value !== undefined ? (value / base - 1) * 100 : undefined;
                const sign = difference !== undefined && difference > 0 ? "+" : "";
                return h("td", { class: "number" }, figure(value), difference !== undefined && h("span", { class: "quiet" }, ` ${sign}${figure(difference, 3)} %`));
            });
            return h("tr", {}, h("th", { scope: "row" }, name), cells);
        });
        this.table.hidden = this.all.length === 0;
        const key = this.all.map((one) => [one.run?.state, one.problem, one.run?.summary?.wallS]);
        const state = JSON.stringify(key);
        if (this.table.dataset.state === state) return;
        this.table.dataset.state = state;
        fill(this.table, h("thead", {}, h("tr", {}, h("td", {}), head)), h("tbody", {}, h("tr", {}, h("th", { scope: "row" }, "State"), states), rows, h("tr", {}, h("th", { scope: "row" }, "Result digest"), digests)));
    }
}
