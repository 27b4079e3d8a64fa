// The curves of a sweep: its runs by what is varied, averaged over seeds.

import type { Line } from "./chart";
import { type Run, RunState } from "./generated/tailback/v1/run_pb";

export type Figure = "latencyMean" | "latencyP99" | "acceptedLoad" | "hopsMean";
export const FIGURES: [Figure, string, string][] = [
    ["latencyMean", "Mean latency", "link cycles"],
    ["latencyP99", "99 % within", "link cycles"],
    ["acceptedLoad", "Accepted load", "flits per node and cycle"],
    ["hopsMean", "Hops", "routers per packet"],
];

/** What was set for a run, path by path; later values count. */
export function settings(overrides: string[]): Map<string, string> {
    const found = new Map<string, string>();
    for (const text of overrides) {
        const at = text.indexOf("=");
        if (at > 0) found.set(text.slice(0, at).trim(), text.slice(at + 1).trim().replace(/^"(.*)"$/, "$1"));
    }
    return found;
}

/** A run of a sweep, with what was set for it. */
export interface Point {
    run: Run;
    set: Map<string, string>;
}

/** What is varied, but for the seed: paths with more than one value. */
export function axes(points: Point[]): string[] {
    const values = new Map<string, Set<string>>();
    for (const { set } of points) {
        for (const [path, value] of set) values.set(path, (values.get(path) ?? new Set()).add(value));
    }
    const varied = [...values].filter(([path, found]) => found.size > 1 && path !== "seed");
    return varied.map(([path]) => path);
}

/** What the horizontal axis is best of: the load, or else what has most numbers. */
export function bestX(points: Point[]): string | undefined {
    const numeric = axes(points).filter((path) => points.every(({ set }) => Number.isFinite(Number(set.get(path) ?? "?"))));
    const load = numeric.find((path) => /(^|\.)load$/.test(path));
    const number = (path: string) => new Set(points.map(({ set }) => set.get(path))).size;
    return load ?? numeric.sort((a, b) => number(b) - number(a))[0];
}

/** A line for each combination of all other values; each point is the mean over its seeds. */
export function curves(points: Point[], x: string, figure: Figure, prefix = ""): Line[] {
    const others = axes(points).filter((path) => path !== x);
    const lines = new Map<string, Map<number, number[]>>();
    for (const { run, set } of points) {
        const name = others.map((path) => shortened(path, set.get(path) ?? "")).join(", ");
        // The order of names is that of the sweep, whichever run ends first.
        const line = lines.get(name) ?? new Map<number, number[]>();
        lines.set(name, line);
        const value = run.state === RunState.SUCCEEDED ? run.summary?.[figure] : undefined;
        const at = Number(set.get(x));
        if (value === undefined || !Number.isFinite(at)) continue;
        line.set(at, [...(line.get(at) ?? []), value]);
    }
    return [...lines].map(([name, line], colour) => {
        const sorted = [...line].sort(([a], [b]) => a - b);
        const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
        return {
            name: [prefix, name].filter((part) => part !== "").join(": ") || "all",
            x: sorted.map(([at]) => at),
            y: sorted.map(([, values]) => mean(values)),
            colour,
        };
    });
}

/** Names say what they are; numbers need the last part of their path. */
function shortened(path: string, value: string): string {
    return Number.isFinite(Number(value)) ? `${path.split(".").at(-1)} ${value}` : value;
}
