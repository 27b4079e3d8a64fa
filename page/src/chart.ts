// Charts: uPlot in the colours of the page.

import uPlot from "uplot";

import { h } from "./dom";
import { figure } from "./format";

/** Colours that the blind to some can tell apart, in the order of their use; the style sheet has them. */
const COLOURS = 8;

export interface ChartOptions {
    title: string;
    /** What the axes are of, with units. */
    x: string;
    y: string;
    height?: number;
    /** Whether values are marked as points. */
    points?: boolean;
    /** Charts with the same name move their cursors together. */
    together?: string;
}

/** A line: its name, and its points by x, ascending. */
export interface Line {
    name: string;
    x: number[];
    y: (number | null)[];
    /** Which colour it has; its place among the lines if it does not say. */
    colour?: number;
    dashed?: boolean;
}

export class Chart {
    readonly element: HTMLElement;
    private readonly place = h("div", { class: "chart-place" });
    private readonly unit = h("span", { class: "quiet" });
    private readonly empty = h("p", { class: "quiet" }, "nothing to draw yet");
    private plot: uPlot | undefined;
    private names = "";
    private lines: Line[] = [];
    private frame = 0;
    private readonly observer = new ResizeObserver(() => this.resize());
    private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
    private readonly rebuild = () => {
        this.names = "";
        this.later();
    };

    constructor(private readonly options: ChartOptions) {
        const heading = h("figcaption", {}, options.title, this.unit);
        this.unit.textContent = ` ${options.y}`;
        this.element = h("figure", { class: "chart", role: "group", "aria-label": options.title }, heading, this.empty, this.place);
        this.observer.observe(this.place);
        this.scheme.addEventListener("change", this.rebuild);
    }

    stop(): void {
        cancelAnimationFrame(this.frame);
        this.observer.disconnect();
        this.scheme.removeEventListener("change", this.rebuild);
        this.plot?.destroy();
    }

    /** Says anew what the axes are of. */
    name(names: { x: string; y: string }): void {
        if (names.x === this.options.x && names.y === this.options.y) return;
        Object.assign(this.options, names);
        this.unit.textContent = ` ${names.y}`;
        this.rebuild();
    }

    /** Draws lines with the next frame, however often that is asked for until then. */
    set(lines: Line[]): void {
        this.lines = lines;
        const points = lines.reduce((sum, line) => sum + line.x.length, 0);
        this.element.setAttribute("data-points", String(points));
        this.empty.hidden = points > 0;
        this.place.hidden = points === 0;
        this.later();
    }

    private later(): void {
        cancelAnimationFrame(this.frame);
        this.frame = requestAnimationFrame(() => this.draw());
    }

    private draw(): void {
        if (this.lines.every((line) => line.x.length === 0) || this.place.clientWidth === 0) return;
        const data = joined(this.lines);
        const names = JSON.stringify(this.lines.map((line) => [line.name, line.colour, line.dashed]));
        if (this.plot && names === this.names) {
            this.plot.setData(data);
            return;
        }
        this.plot?.destroy();
        this.names = names;
        this.plot = new uPlot(this.uplot(), data, this.place);
    }

    private resize(): void {
        const width = this.place.clientWidth;
        if (this.plot && width > 0 && width !== this.plot.width) {
            this.plot.setSize({ width, height: this.options.height ?? 220 });
        } else if (!this.plot) this.later();
    }

    private uplot(): uPlot.Options {
        const style = getComputedStyle(document.documentElement);
        const colour = (name: string) => style.getPropertyValue(name).trim();
        const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { stroke: colour("--grid"), width: 1 } };
        const font = `12px ${style.getPropertyValue("--font").trim()}`;
        // Without a cursor the latest values are told.
        const value = (plot: uPlot, value: number | null, series: number, index: number | null) =>
            figure((index === null ? latest(plot.data[series]) : value) ?? undefined);
        const cursor = { y: false, ...(this.options.together ? { sync: { key: this.options.together } } : {}) };
        return {
            width: this.place.clientWidth,
            height: this.options.height ?? 220,
            cursor,
            scales: { x: { time: false }, y: { range: (_, low, high) => range(low, high) } },
            legend: { live: true },
            axes: [
                { ...axis, font, labelFont: font, label: this.options.x, labelSize: 20, size: 34 },
                { ...axis, font, size: 58, values: (_, splits) => splits.map((split) => figure(split)) },
            ],
            series: [
                { label: this.options.x, value },
                ...this.lines.map((line, index) => ({
                    label: line.name,
                    value,
                    stroke: colour(`--line-${(line.colour ?? index) % COLOURS}`),
                    width: 1.75,
                    spanGaps: true,
                    ...(line.dashed ? { dash: [5, 4] } : {}),
                    points: { show: this.options.points ?? false, size: 6 },
                })),
            ],
        };
    }
}

function latest(values: ArrayLike<number | null | undefined> | undefined): number | null | undefined {
    for (let index = (values?.length ?? 0) - 1; index >= 0; index--) {
        if (values?.[index] !== null && values?.[index] !== undefined) return values[index];
    }
    return undefined;
}

/** Axes begin at zero unless everything is far from it. */
function range(low: number | null, high: number | null): [number, number] {
    if (low === null || high === null) return [0, 1];
    const floor = low >= 0 && low < high * 0.7 ? 0 : low;
    const room = (high - floor) * 0.06 || Math.abs(high) * 0.1 || 1;
    return [floor === 0 ? 0 : floor - room, high + room];
}

/** The table that uPlot draws: all x, and for each line its values there. */
function joined(lines: Line[]): uPlot.AlignedData {
    const [first] = lines;
    if (first && lines.length === 1) return [first.x, first.y];
    const tables = lines.map((line) => [line.x, line.y] as uPlot.AlignedData);
    return uPlot.join(tables);
}
