// Links and congestion trees over time, of runs that have left such tables: `measure.links`, `measure.trees`.

import { Table } from "../csv";
import { fill, h } from "../dom";
import { count } from "../format";
import type { Artifact } from "../generated/tailback/v1/result_service_pb";
import { HeatMap } from "../heat_map";
import { pieces } from "./found";

const TREES = ["root", "kind", "cause"];
const SHOWN = ["kind", "router", "port", "node", "cause", "buffers", "flits", "depth", "age_cycles", "victim_flits"];

async function read(runId: string, file: Artifact, texts: readonly string[], signal: AbortSignal): Promise<Table> {
    const table = new Table(texts);
    await pieces(runId, file, signal, (piece) => table.push(piece));
    return table;
}

/** Shows what there is of both. */
export async function overTime(runId: string, files: Artifact[], into: HTMLElement, signal: AbortSignal): Promise<void> {
    const [links, trees] = ["links.csv", "trees.csv"].map((name) => files.find((file) => file.name === name));
    const treeTable = trees && (await read(runId, trees, TREES, signal));
    const list = h("table", {});
    const drawTrees = (cycle: number) => treeTable && fill(list, ...treeRows(treeTable, cycle));
    if (links) {
        const map = new HeatMap(await read(runId, links, ["kind"], signal), drawTrees);
        signal.addEventListener("abort", () => map.stop());
        into.append(h("h3", {}, "Links over time"), map.element);
    }
    if (!treeTable) return;
    into.append(h("h3", {}, "Congestion trees"));
    if (treeTable.rows === 0) into.append(h("p", { class: "quiet" }, "There were none."));
    else into.append(...(links ? [] : [treeSlider(treeTable, drawTrees)]), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Congestion trees at this time" }, list));
}

/** Without links there is no heat map whose slider would do. */
function treeSlider(table: Table, draw: (cycle: number) => void): HTMLElement {
    const times = [...new Set(table.column("cycle"))];
    const slider = h("input", { type: "range", min: 0, max: times.length - 1, value: times.length - 1, "aria-label": "Time of trees", oninput: () => draw(times[slider.valueAsNumber] ?? 0) });
    draw(times.at(-1) ?? 0);
    return h("div", { class: "bar" }, slider);
}

function treeRows(table: Table, cycle: number): HTMLElement[] {
    const cycles = table.column("cycle");
    const rows: number[] = [];
    cycles.forEach((at, row) => at === cycle && rows.push(row));
    const flits = table.column("flits");
    rows.sort((one, other) => (flits[other] ?? 0) - (flits[one] ?? 0));
    const cell = (name: string, row: number) => {
        const value = table.column(name)[row] ?? Number.NaN;
        if (TREES.includes(name)) return h("td", {}, table.words[value] ?? "");
        return h("td", {}, Number.isNaN(value) ? "" : count(value));
    };
    const caption = h("caption", {}, rows.length === 0 ? `no tree at link cycle ${count(cycle)}` : `link cycle ${count(cycle)}`);
    return [caption, h("thead", {}, h("tr", {}, SHOWN.map((name) => h("th", { scope: "col" }, name.replaceAll("_", " "))))), h("tbody", {}, rows.map((row) => h("tr", {}, SHOWN.map((name) => cell(name, row)))))];
}
