// The runs of a sweep, with what was set for each, kept up to date.

import type { Point } from "./curves";
import { settings } from "./curves";
import { isActive } from "./format";
import type { Run } from "./generated/tailback/v1/run_pb";
import { CALL_MS, call, repeat, runs } from "./server";

const PAGE_RUNS = 200;
const AGAIN_MS = 700;

export class Children {
    /** By their places in the sweep. */
    points: Point[] = [];
    private readonly controller = new AbortController();
    private again = true;

    constructor(
        private readonly sweep: string,
        private readonly changed: () => void,
    ) {
        void repeat(this.controller.signal, () => this.read());
    }

    stop(): void {
        this.controller.abort();
    }

    /** Something has happened. */
    refresh(): void {
        this.again = true;
    }

    private async read(): Promise<number> {
        const isFirst = this.points.length === 0;
        if (!this.again && !isFirst) return AGAIN_MS;
        this.again = false;
        const found: Run[] = [];
        let pageToken = "";
        do {
            const request = { parentId: this.sweep, pageSize: isFirst ? PAGE_RUNS : 1000, pageToken, includeScenario: isFirst };
            const page = await call(runs.listRuns(request, { signal: this.controller.signal, timeoutMs: CALL_MS }));
            found.push(...page.runs);
            pageToken = page.nextPageToken;
        } while (pageToken !== "");
        const known = new Map(this.points.map(({ run, set }) => [run.id, set]));
        this.points = found.map((run) => ({ run, set: run.scenario ? settings(run.scenario.overrides) : (known.get(run.id) ?? new Map()) }));
        // Samples of runs do not make events of their sweep; their progress is shown all the same.
        if (found.some(isActive)) this.again = true;
        this.changed();
        return AGAIN_MS;
    }
}
