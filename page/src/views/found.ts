// What a run has found: its report, its series, and its files.

import { Chart } from "../chart";
import { choice, fill, h, save } from "../dom";
import { bytes } from "../format";
import type { Artifact } from "../generated/tailback/v1/result_service_pb";
import type { Run } from "../generated/tailback/v1/run_pb";
import { Series } from "../series";
import { CALL_MS, call, results, words } from "../server";
import { overTime } from "./over_time";

/** Files that are larger are fetched with the command line. */
const DOWNLOAD_BYTES_MAX = 256 << 20;
/** More lines in a chart cannot be told apart. */
const LINES_MAX = 12;

/** Fills `into` with what a run has found. */
export async function found(run: Run, into: HTMLElement, signal: AbortSignal): Promise<void> {
    const options = { signal, timeoutMs: CALL_MS };
    const runId = run.id;
    const files = h("ul", { class: "files" });
    const report = h("div", {});
    const series = h("div", {});
    const tables = h("div", {});
    fill(into, h("h2", {}, "Results"), report, series, tables, h("h3", {}, "Files"), files);
    const reading = [
        call(results.listArtifacts({ runId }, options)).then(({ artifacts }) => {
            fill(files, artifacts.map((file) => h("li", {}, fileLink(runId, file, signal))));
            return overTime(runId, artifacts, tables, signal);
        }),
    ];
    if (!run.sweep) {
        reading.push(
            call(results.getReport({ runId }, options)).then(({ text }) => fill(report, h("pre", { class: "report", tabindex: 0, "aria-label": "Report" }, text))),
            call(results.querySeries({ runId }, options)).then(
                (table) => fill(series, new SeriesPart(new Series(table), signal).element),
                () => undefined,
            ),
        );
    }
    for (const outcome of await Promise.allSettled(reading)) {
        if (outcome.status === "rejected" && !signal.aborted) into.append(h("p", { class: "problem" }, words(outcome.reason)));
    }
}

function fileLink(runId: string, file: Artifact, signal: AbortSignal): HTMLElement {
    const size = h("span", { class: "quiet" }, ` ${bytes(file.size)}`);
    if (file.size > DOWNLOAD_BYTES_MAX) return h("span", {}, file.name, size, ` – tailback fetch ${runId}`);
    const fetch = async () => {
        button.disabled = true;
        try {
            save(`${runId}-${file.name}`, [await content(runId, file, signal)], file.mediaType);
        } catch (error) {
            if (!signal.aborted) size.textContent = ` ${words(error)}`;
        }
        button.disabled = false;
    };
    const button = h("button", { class: "plain link", onclick: () => void fetch() }, file.name);
    return h("span", {}, button, size);
}

/** Reads a file piece by piece, and goes on where a stream has broken off. */
export async function pieces(runId: string, file: Artifact, signal: AbortSignal, take: (piece: Uint8Array) => void): Promise<void> {
    let offset = 0n;
    for (let attempt = 0; offset < file.size; attempt++) {
        try {
            for await (const { content } of results.readArtifact({ runId, name: file.name, offset }, { signal })) {
                take(content);
                offset += BigInt(content.length);
            }
        } catch (error) {
            if (signal.aborted || attempt > 5) throw error;
        }
    }
}

/** Reads all of a file, and compares its digest where the browser has the means: over https, and on this machine. */
async function content(runId: string, file: Artifact, signal: AbortSignal): Promise<BlobPart> {
    const whole = new Uint8Array(Number(file.size));
    let length = 0;
    await pieces(runId, file, signal, (piece) => {
        whole.set(piece, length);
        length += piece.length;
    });
    const digest = new Uint8Array((await crypto.subtle?.digest("SHA-256", whole)) ?? []);
    const hexadecimal = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    if (digest.length > 0 && hexadecimal !== file.sha256) throw new Error("the file has come damaged");
    return whole;
}

/** The columns of a series over link cycles, one at a time. */
class SeriesPart {
    readonly element: HTMLElement;
    private readonly chart = new Chart({ title: "Series", x: "link cycle", y: "" });

    constructor(
        private readonly series: Series,
        signal: AbortSignal,
    ) {
        signal.addEventListener("abort", () => this.chart.stop());
        const first = Series.first(series.names);
        const columns = choice("Column", series.names.map((name) => [name, name]), first, (name) => this.draw(name));
        this.element = h("section", { "aria-label": "Time series" }, h("h3", {}, "Time series"), columns, this.chart.element);
        this.draw(first);
    }

    private draw(name: string): void {
        this.chart.set(this.series.lines(name).slice(0, LINES_MAX));
    }
}
