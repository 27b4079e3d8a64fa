// The list of all runs: only rows that are seen exist, so that ten thousand cost what twenty do.

import { fill, h, say, type View } from "../dom";
import { count, figure, isActive, isSweep, progressOf, stateWord, time } from "../format";
import { type Run, RunState } from "../generated/tailback/v1/run_pb";
import { go } from "../places";
import { RunsModel } from "../runs_model";
import { compared, toggleCompared } from "../selection";

const ROW_PX = 46;
/** Rows that exist above and below those that are seen. */
const MARGIN = 8;

type Filter = "all" | "active" | "succeeded" | "failed" | "cancelled";
const FILTERS: [Filter, string][] = [
    ["all", "all"],
    ["active", "active"],
    ["succeeded", "succeeded"],
    ["failed", "failed"],
    ["cancelled", "cancelled"],
];

export function runList(): View {
    return new RunList();
}

class RunList implements View {
    readonly title = "Runs";
    readonly element: HTMLElement;
    private shown: Run[] = [];
    private current = 0;
    private text = "";
    private filter: Filter = "all";
    private readonly rows = new Map<number, HTMLElement>();
    private readonly canvas = h("div", { class: "rows", role: "rowgroup" });
    private readonly grid: HTMLElement;
    private readonly search: HTMLInputElement;
    private readonly total = h("span", { class: "quiet", role: "status", "data-testid": "total" });
    private readonly nothing = h("p", { class: "nothing" });
    private readonly compare = h("button", { onclick: () => go("compare", ...compared()) }, "Compare");
    private readonly model = new RunsModel(() => this.changed());

    constructor() {
        this.search = h("input", {
            type: "search",
            placeholder: "Name, title, owner or label",
            "aria-label": "Search runs",
            oninput: () => {
                this.text = this.search.value.toLowerCase();
                this.changed();
            },
        });
        const heading = ["", "Run", "State", "Accepted load", "Mean latency", "p99", "Owner", "Created"];
        this.grid = h(
            "div",
            { class: "grid", role: "grid", tabindex: 0, "aria-label": "Runs", "aria-colcount": heading.length, onkeydown: (event: KeyboardEvent) => this.move(event), onscroll: () => this.draw() },
            h("div", { class: "row head", role: "row", "aria-rowindex": 1 }, heading.map((text) => h("div", { role: "columnheader" }, text))),
            this.canvas,
        );
        this.canvas.addEventListener("click", (event) => this.clicked(event));
        this.element = h("section", { class: "list" }, h("div", { class: "bar" }, h("h1", {}, "Runs"), this.filters(), this.search, this.total, this.compare), this.grid, this.nothing);
        new ResizeObserver(() => this.draw()).observe(this.grid);
        this.sayCompared();
    }

    stop(): void {
        this.model.stop();
    }

    key(event: KeyboardEvent): boolean {
        if (event.key === "/") this.search.focus();
        else if (event.key === "j" || event.key === "k") {
            this.grid.focus();
            this.select(this.current + (event.key === "j" ? 1 : -1));
        } else return false;
        return true;
    }

    private filters(): HTMLElement {
        const buttons = FILTERS.map(([filter, text]) => {
            const choose = () => {
                this.filter = filter;
                for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
                this.changed();
            };
            const button = h("button", { "aria-pressed": String(filter === "all"), onclick: choose }, text);
            return button;
        });
        return h("div", { class: "segments", role: "group", "aria-label": "States" }, buttons);
    }

    private matches(run: Run): boolean {
        if (this.filter === "active" ? !isActive(run) : this.filter !== "all" && stateWord(run.state) !== this.filter) return false;
        if (!this.text) return true;
        const labels = Object.entries(run.labels).map(([key, value]) => `${key}=${value}`);
        return [run.id, run.title, run.owner, ...labels].some((text) => text.toLowerCase().includes(this.text));
    }

    private changed(): void {
        const chosen = this.shown[this.current]?.id;
        const all = this.model.list;
        this.shown = all.filter((run) => this.matches(run));
        const place = this.shown.findIndex((run) => run.id === chosen);
        this.current = place >= 0 ? place : Math.max(0, Math.min(this.current, this.shown.length - 1));
        const more = this.model.isComplete ? "" : " so far";
        const total = this.shown.length === all.length ? `${count(all.length)} runs` : `${count(this.shown.length)} of ${count(all.length)}`;
        say(this.total, this.model.problem || total + more);
        this.grid.setAttribute("aria-rowcount", String(this.shown.length + 1));
        this.canvas.style.height = `${this.shown.length * ROW_PX}px`;
        this.nothing.hidden = this.shown.length > 0 || !this.model.isComplete;
        if (all.length > 0) fill(this.nothing, "No run is like that.");
        else fill(this.nothing, "There are no runs yet. ", h("a", { href: "#/new" }, "Write a scenario"), " or use ", h("code", {}, "tailback submit"), ".");
        this.draw();
    }

    /** Makes the rows that are seen, and removes all others. */
    private draw(): void {
        const first = Math.max(0, Math.floor(this.grid.scrollTop / ROW_PX) - MARGIN);
        const last = Math.min(this.shown.length, Math.ceil((this.grid.scrollTop + this.grid.clientHeight) / ROW_PX) + MARGIN);
        for (const [index, row] of this.rows) {
            if (index >= first && index < last) continue;
            row.remove();
            this.rows.delete(index);
        }
        for (let index = first; index < last; index++) {
            const run = this.shown[index];
            if (!run) continue;
            let row = this.rows.get(index);
            if (!row) {
                row = h("div", { class: "row", role: "row", id: `row-${index}`, "aria-rowindex": index + 2 });
                row.style.transform = `translateY(${index * ROW_PX}px)`;
                this.rows.set(index, row);
                this.canvas.append(row);
            }
            this.drawRow(row, run, index);
        }
        this.grid.setAttribute("aria-activedescendant", `row-${this.current}`);
    }

    private drawRow(row: HTMLElement, run: Run, index: number): void {
        const isCompared = compared().includes(run.id);
        const state = JSON.stringify([run.id, run.state, progressOf(run), isCompared, run.summary?.wallS]);
        row.classList.toggle("current", index === this.current);
        row.setAttribute("aria-selected", String(isCompared));
        if (row.dataset.state === state) return;
        row.dataset.state = state;
        row.dataset.run = run.id;
        const cell = (name: string, ...children: (Node | string | false)[]) => h("div", { role: "gridcell", class: name }, ...children);
        const box = h("input", { type: "checkbox", tabindex: -1, "aria-label": `compare ${run.id}` });
        box.checked = isCompared;
        const name = h("a", { href: `#/run/${encodeURIComponent(run.id)}`, tabindex: -1 }, run.id);
        const summary = run.summary;
        fill(
            row,
            cell("pick", box),
            cell("name", name, isSweep(run) && h("span", { class: "tag" }, "sweep"), run.private && h("span", { class: "tag" }, "private"), run.project !== "" && h("span", { class: "tag" }, run.project), summary?.saturated === true && h("span", { class: "tag", title: "a flow offered more than was accepted" }, "saturated"), h("span", { class: "quiet title" }, run.title)),
            cell("state", stateBadge(run), isActive(run) && progressBar(run)),
            cell("number", figure(summary?.acceptedLoad)),
            cell("number", figure(summary?.latencyMean)),
            cell("number", figure(summary?.latencyP99)),
            cell("owner quiet", run.owner),
            cell("created quiet", time(run.createTime)),
        );
    }

    private clicked(event: Event): void {
        const target = event.target as HTMLElement;
        const row = target.closest<HTMLElement>(".row");
        const index = row ? [...this.rows].find(([, other]) => other === row)?.[0] : undefined;
        if (index === undefined) return;
        this.select(index);
        if (target instanceof HTMLInputElement) this.toggle();
        else if (!(target instanceof HTMLAnchorElement)) this.open();
    }

    private move(event: KeyboardEvent): void {
        const page = Math.max(1, Math.floor(this.grid.clientHeight / ROW_PX) - 2);
        const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
        const step = steps[event.key];
        if (step !== undefined) this.select(this.current + step);
        else if (event.key === "Enter") this.open();
        else if (event.key === " ") this.toggle();
        else return;
        event.preventDefault();
    }

    private select(index: number): void {
        this.current = Math.max(0, Math.min(this.shown.length - 1, index));
        const [top, height] = [this.current * ROW_PX, this.grid.clientHeight - ROW_PX];
        if (top < this.grid.scrollTop) this.grid.scrollTop = top;
        else if (top + ROW_PX > this.grid.scrollTop + height) this.grid.scrollTop = top + ROW_PX - height;
        this.draw();
    }

    private open(): void {
        const run = this.shown[this.current];
        if (run) go("run", run.id);
    }

    private toggle(): void {
        const run = this.shown[this.current];
        if (!run) return;
        toggleCompared(run.id);
        this.sayCompared();
        this.draw();
    }

    private sayCompared(): void {
        const number = compared().length;
        this.compare.disabled = number === 0;
        say(this.compare, number === 0 ? "Compare" : `Compare ${number}`);
    }
}

export function stateBadge(run: Run): HTMLElement {
    return h("span", { class: `badge ${stateWord(run.state)}` }, stateWord(run.state));
}

export function progressBar(run: Run): HTMLElement {
    const part = progressOf(run);
    const label = run.state === RunState.PENDING ? "waits" : `${Math.floor(part * 100)} %`;
    const bar = h("progress", { max: 1, "aria-label": `progress of ${run.id}` });
    bar.value = part;
    return h("span", { class: "progress" }, bar, h("span", { class: "quiet" }, label));
}
