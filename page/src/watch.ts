// Watching runs: streams of events that go on where they broke off.

import { Code, ConnectError } from "@connectrpc/connect";

import { type MetricSample, type Run } from "./generated/tailback/v1/run_pb";
import type { ChildEnded } from "./generated/tailback/v1/run_service_pb";
import { Backoff, isTransient, note, runs } from "./server";

/** Streams at once: browsers allow six connections to a server, and calls need some. */
const STREAMS_MAX = 3;
/** How long a stream that tells nothing keeps its place while others wait for one. */
const TURN_MS = 1500;

/** What a watcher is told. */
export interface Watcher {
    run?(run: Run): void;
    sample?(sample: MetricSample): void;
    child?(child: ChildEnded): void;
    /** The run goes on after a loss, or an attempt has failed: what is counted of it has changed. */
    shaken?(): void;
    /** All that was known is told anew. */
    restart?(): void;
    /** The run has reached a last state, and everything was told. */
    ended?(): void;
    /** It cannot be watched. */
    failed?(error: ConnectError): void;
}

let open = 0;
const waiting: (() => void)[] = [];

async function take(): Promise<void> {
    if (open >= STREAMS_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
    open += 1;
}

function giveBack(): void {
    open -= 1;
    waiting.shift()?.();
}

/** Watches a run until it has ended, through all losses of the connection. */
export async function watch(runId: string, watcher: Watcher, signal: AbortSignal): Promise<void> {
    const backoff = new Backoff();
    let after = 0n;
    while (!signal.aborted) {
        await take();
        const turn = new Turn(signal);
        try {
            for await (const event of runs.watchRun({ runId, afterSequence: after }, { signal: turn.signal })) {
                turn.goesOn();
                note();
                backoff.succeeded();
                if (event.sequence > after) after = event.sequence;
                switch (event.event.case) {
                    case "stateChanged":
                        watcher.run?.(event.event.value);
                        break;
                    case "sample":
                        watcher.sample?.(event.event.value);
                        break;
                    case "childEnded":
                        watcher.child?.(event.event.value);
                        break;
                    case "recovered":
                    case "attemptFailed":
                        watcher.shaken?.();
                        break;
                }
            }
            if (!signal.aborted) watcher.ended?.();
            return;
        } catch (error) {
            if (signal.aborted) return;
            if (turn.isOver) continue;
            note(error);
            const problem = ConnectError.from(error);
            if (problem.code === Code.OutOfRange && after > 0n) {
                after = 0n;
                watcher.restart?.();
            } else if (!isTransient(error) && problem.code !== Code.ResourceExhausted) {
                watcher.failed?.(problem);
                return;
            }
        } finally {
            turn.end();
            giveBack();
        }
        await backoff.wait(signal);
    }
}

/** The time that a stream has its place for. */
class Turn {
    private readonly controller = new AbortController();
    private readonly outer: AbortSignal;
    private timer: ReturnType<typeof setTimeout> | undefined;
    isOver = false;
    readonly signal = this.controller.signal;
    private readonly stop = () => this.controller.abort();

    constructor(outer: AbortSignal) {
        this.outer = outer;
        outer.addEventListener("abort", this.stop);
        if (outer.aborted) this.stop();
        this.goesOn();
    }

    goesOn(): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.maybeOver(), TURN_MS);
    }

    private maybeOver(): void {
        if (waiting.length === 0) return this.goesOn();
        this.isOver = true;
        this.controller.abort();
    }

    end(): void {
        clearTimeout(this.timer);
        this.outer.removeEventListener("abort", this.stop);
    }
}

