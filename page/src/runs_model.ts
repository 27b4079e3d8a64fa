// The runs of the server, newest first, kept up to date for as long as somebody looks.

import { Code, ConnectError } from "@connectrpc/connect";

import { type Run, RunState } from "./generated/tailback/v1/run_pb";
import { isActive } from "./format";
import { CALL_MS, call, isTransient, repeat, runs, words } from "./server";

const PAGE_RUNS = 1000;
/** Runs that are asked for each time: those that have come since must be among them. */
const NEWEST_RUNS = 100;
const ACTIVE_MS = 1000;
const IDLE_MS = 3000;
/** How often everything is read again, which tells what was deleted. */
const ALL_MS = 60_000;
/** Runs that have ended unseen are asked for one by one, so many at a time. */
const ENDED_MAX = 50;
const ACTIVE = [RunState.PENDING, RunState.RUNNING, RunState.CANCELLING];

export class RunsModel {
    private byId = new Map<string, Run>();
    private order: string[] = [];
    private readAt = 0;
    /** Why they could not be read, if the server says so itself. */
    problem = "";
    /** Whether all runs have been read once. */
    isComplete = false;
    private readonly controller = new AbortController();

    constructor(private readonly changed: () => void) {
        void repeat(this.controller.signal, () => this.refresh().catch((error) => this.failed(error)));
    }

    stop(): void {
        this.controller.abort();
    }

    get list(): Run[] {
        return this.order.flatMap((id) => this.byId.get(id) ?? []);
    }

    private async page(pageToken: string, pageSize: number, states: RunState[] = []) {
        const options = { signal: this.controller.signal, timeoutMs: CALL_MS };
        return call(runs.listRuns({ pageToken, pageSize, states }, options));
    }

    private failed(error: unknown): never {
        this.problem = isTransient(error) ? "" : words(error);
        this.changed();
        throw error;
    }

    private async refresh(): Promise<number> {
        if (performance.now() - this.readAt > ALL_MS || !this.isComplete) await this.readAll();
        else await this.readNew();
        this.problem = "";
        this.changed();
        const active = this.order.some((id) => {
            const run = this.byId.get(id);
            return run !== undefined && isActive(run);
        });
        return active ? ACTIVE_MS : IDLE_MS;
    }

    private async readAll(): Promise<void> {
        const [byId, order] = [new Map<string, Run>(), [] as string[]];
        let token = "";
        do {
            const page = await this.page(token, PAGE_RUNS);
            for (const run of page.runs) {
                if (!byId.has(run.id)) order.push(run.id);
                byId.set(run.id, run);
            }
            token = page.nextPageToken;
            if (!this.isComplete) {
                [this.byId, this.order] = [byId, order];
                this.changed();
            }
        } while (token !== "");
        [this.byId, this.order, this.isComplete, this.readAt] = [byId, order, true, performance.now()];
    }

    private async readNew(): Promise<void> {
        const newest = await this.page("", NEWEST_RUNS);
        const active = await this.page("", PAGE_RUNS, ACTIVE);
        const seen = new Set<string>();
        const come: string[] = [];
        for (const run of newest.runs.concat(active.runs)) {
            if (!this.byId.has(run.id)) come.push(run.id);
            this.byId.set(run.id, run);
            seen.add(run.id);
        }
        // More have come than were asked for: there is a gap.
        if (come.length >= NEWEST_RUNS) this.readAt = -ALL_MS;
        this.order = [...new Set(come), ...this.order];
        if (newest.nextPageToken === "") this.forget((id) => seen.has(id));
        const ended = this.order.filter((id) => {
            const run = this.byId.get(id);
            return run !== undefined && isActive(run) && !seen.has(id);
        });
        if (active.nextPageToken === "") await Promise.all(ended.slice(0, ENDED_MAX).map((id) => this.readOne(id)));
    }

    private async readOne(runId: string): Promise<void> {
        try {
            const options = { signal: this.controller.signal, timeoutMs: CALL_MS };
            const { run } = await call(runs.getRun({ runId }, options));
            if (run) this.byId.set(runId, run);
        } catch (error) {
            if (ConnectError.from(error).code !== Code.NotFound) throw error;
            this.forget((id) => id !== runId);
        }
    }

    private forget(isKept: (id: string) => boolean): void {
        this.order = this.order.filter(isKept);
        for (const id of [...this.byId.keys()]) if (!isKept(id)) this.byId.delete(id);
    }
}
