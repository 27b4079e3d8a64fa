// One run: where it stands, what is measured while it goes on, and what it has found.

import { fill, h, say, type View } from "../dom";
import { count, duration, figure, isActive, isSweep, seconds, stateWord, time } from "../format";
import { type Run, RunState } from "../generated/tailback/v1/run_pb";
import { go } from "../places";
import { Samples, sampleCharts } from "../samples";
import { compared, toggleCompared } from "../selection";
import { CALL_MS, call, once, runs, words } from "../server";
import { watch } from "../watch";
import { found } from "./found";
import { progressBar, stateBadge } from "./run_list";
import { SweepPart } from "./sweep";

export function runView(name: string): View {
    return new RunView(name);
}

class RunView implements View {
    readonly title: string;
    readonly element: HTMLElement;
    private run: Run | undefined;
    private readonly controller = new AbortController();
    private readonly samples = new Samples();
    private readonly charts = sampleCharts();
    private readonly head = h("div", { class: "run-head" });
    private readonly state = h("div", { class: "run-state", "aria-live": "polite" });
    private readonly actions = h("div", { class: "actions" });
    private readonly problem = h("p", { class: "problem", role: "alert", hidden: true });
    private readonly facts = h("dl", { class: "facts" });
    private readonly live = h("section", { "aria-label": "Series" });
    private readonly outcome = h("section", { "aria-label": "Results", "data-testid": "results" });
    private readonly note = h("p", { class: "quiet", hidden: true });
    private sweep: SweepPart | undefined;
    private hasResults = false;

    constructor(private readonly name: string) {
        this.title = name;
        const { load, latency, packets, speed } = this.charts;
        fill(this.live, h("h2", {}, "While it runs"), this.note, h("div", { class: "charts" }, load.element, latency.element, packets.element, speed.element));
        this.live.hidden = true;
        this.element = h("section", { class: "run" }, h("div", { class: "bar" }, this.head, this.actions), this.problem, this.state, this.facts, this.live, this.outcome);
        void this.follow();
    }

    stop(): void {
        this.controller.abort();
        this.sweep?.stop();
        for (const chart of Object.values(this.charts)) chart.stop();
    }

    key(event: KeyboardEvent): boolean {
        if (event.key !== "e") return false;
        go("new", this.name);
        return true;
    }

    private async follow(): Promise<void> {
        const { signal } = this.controller;
        await once(signal, async () => {
            try {
                const { run } = await call(runs.getRun({ runId: this.name }, { signal, timeoutMs: CALL_MS }));
                if (run) this.begin(run);
            } catch (error) {
                if (words(error) === "the server does not answer") throw error;
                this.say(words(error));
            }
        });
    }

    /** It is known: what happens to it is told from now on. */
    private begin(run: Run): void {
        if (isSweep(run)) {
            this.sweep = new SweepPart(run);
            this.live.before(this.sweep.element);
        }
        this.put(run);
        const watcher = {
            run: (now: Run) => this.put(now),
            sample: (sample: Parameters<Samples["put"]>[0]) => {
                this.samples.put(sample);
                this.drawSamples();
            },
            child: () => this.sweep?.refresh(),
            shaken: () => void this.readAgain(),
            restart: () => this.samples.clear(),
            ended: () => this.ended(),
            failed: (error: Error) => this.say(words(error)),
        };
        void watch(this.name, watcher, this.controller.signal);
    }

    private async readAgain(): Promise<void> {
        const { signal } = this.controller;
        await once(signal, async () => {
            const { run } = await call(runs.getRun({ runId: this.name }, { signal, timeoutMs: CALL_MS }));
            if (run) this.put(run);
        });
    }

    private say(text: string): void {
        this.problem.hidden = text === "";
        say(this.problem, text);
    }

    private put(run: Run): void {
        this.run = run;
        this.drawHead(run);
        this.drawState(run);
        this.drawFacts(run);
        this.sweep?.put(run);
    }

    /** Only what has changed is made anew: a button that has the focus keeps it. */
    private drawHead(run: Run): void {
        const key = JSON.stringify([run.title, run.state, compared().includes(run.id)]);
        if (this.head.dataset.key === key) return;
        this.head.dataset.key = key;
        fill(this.head, h("h1", {}, run.id, " ", stateBadge(run)), run.title && h("p", { class: "quiet" }, run.title));
        const button = (text: string, onclick: () => void) => h("button", { onclick }, text);
        const again = run.state === RunState.FAILED || run.state === RunState.CANCELLED;
        fill(
            this.actions,
            button(compared().includes(run.id) ? "Leave out of comparison" : "Add to comparison", () => {
                toggleCompared(run.id);
                this.drawHead(run);
            }),
            button("Edit as new", () => go("new", run.id)),
            run.state === RunState.PENDING || run.state === RunState.RUNNING ? h("button", { class: "danger", onclick: () => this.cancel() }, "Cancel") : null,
            again && run.parentId === "" ? button("Retry", () => this.retry()) : null,
            !isActive(run) && run.parentId === "" ? h("button", { class: "danger", onclick: () => this.remove() }, "Delete") : null,
        );
    }

    private drawState(run: Run): void {
        const last = this.samples.last;
        const progress = run.progress;
        const cycle = last && last.cycle > (progress?.cycle ?? 0n) ? last.cycle : (progress?.cycle ?? 0n);
        const cycles = progress?.cycles ?? 0n;
        const left = last && last.cyclesPerSecond > 0 ? Number(cycles - cycle) / last.cyclesPerSecond : undefined;
        let text = "";
        if (isSweep(run)) text = `${count(progress?.childrenEnded ?? 0)} of ${count(progress?.children ?? 0)} runs have ended`;
        else if (cycles > 0n) text = `link cycle ${count(cycle)} of ${count(cycles)}`;
        if (isActive(run) && left !== undefined && !isSweep(run)) text += `, about ${seconds(left)} left`;
        const shown = progress ? { ...run, progress: { ...progress, cycle } } : run;
        fill(this.state, isActive(run) && progressBar(shown), h("span", { class: "quiet" }, text), run.note && h("span", { class: "quiet" }, run.note));
        const error = run.error;
        this.say(error ? [error.message, ...error.details].join("\n") : "");
    }

    private drawFacts(run: Run): void {
        const summary = run.summary;
        const simulated = run.startTime && run.endTime ? Number(run.endTime.seconds - run.startTime.seconds) + (run.endTime.nanos - run.startTime.nanos) / 1e9 : undefined;
        const facts: [string, Node | string | undefined][] = [
            ["Accepted load", summary && `${figure(summary.acceptedLoad)} of ${figure(summary.offeredLoad)} offered`],
            ["Mean latency", summary && `${figure(summary.latencyMean)} cycles`],
            ["99 % within", summary && `${figure(summary.latencyP99)} cycles`],
            ["Hops", summary && figure(summary.hopsMean)],
            ["Saturated", summary && (summary.saturated ? "yes" : "no")],
            ["Part of", run.parentId ? h("a", { href: `#/run/${encodeURIComponent(run.parentId)}` }, run.parentId) : undefined],
            ["Owner", run.owner],
            ["Created", time(run.createTime)],
            ["Ended", run.endTime && time(run.endTime)],
            ["Took", summary && summary.wallS > 0 ? seconds(summary.wallS) : simulated !== undefined ? seconds(simulated) : undefined],
            ["Wall time limit", duration(run.execution?.wallTimeMax) > 0 ? seconds(duration(run.execution?.wallTimeMax)) : undefined],
            ["Taken up again", run.restarts > 0 ? `${run.restarts} times` : undefined],
            ["Attempts failed", run.failedAttempts > 0 ? String(run.failedAttempts) : undefined],
            ["Labels", Object.entries(run.labels).map(([key, value]) => `${key}=${value}`).join(", ") || undefined],
            ["Result digest", run.resultDigest ? h("code", { title: run.resultDigest }, run.resultDigest.slice(0, 12)) : undefined],
        ];
        fill(this.facts, facts.flatMap(([name, value]) => (value ? [h("div", {}, h("dt", {}, name), h("dd", {}, value))] : [])));
    }

    private drawSamples(): void {
        this.live.hidden = false;
        const { load, latency, packets, speed } = this.charts;
        load.set([this.samples.line("acceptedLoad", "accepted", 0)]);
        latency.set([this.samples.line("latencyMean", "mean", 0), this.samples.line("latencyP99", "99 % within", 1)]);
        packets.set([this.samples.line("packetsInFlight", "packets", 2)]);
        speed.set([this.samples.line("cyclesPerSecond", "speed", 3)]);
        if (this.run && isActive(this.run)) this.drawState(this.run);
    }

    private ended(): void {
        const run = this.run;
        if (!run || this.hasResults) return;
        this.hasResults = true;
        if (this.samples.length === 0 && !isSweep(run) && run.state === RunState.SUCCEEDED) {
            this.live.hidden = false;
            this.note.hidden = false;
            say(this.note, "It was over before the first sample was due. A series at exact cycles comes with measure.series.");
            for (const chart of Object.values(this.charts)) chart.element.hidden = true;
        }
        if (run.state === RunState.SUCCEEDED || isSweep(run)) void found(run, this.outcome, this.controller.signal);
        else fill(this.outcome, h("p", { class: "quiet" }, `It has ${stateWord(run.state) === "failed" ? "failed" : "been cancelled"}: there are no results.`));
    }

    private async act(made: Promise<unknown>): Promise<boolean> {
        try {
            await call(made);
            this.say("");
            return true;
        } catch (error) {
            this.say(words(error));
            return false;
        }
    }

    private cancel(): void {
        void this.act(runs.cancelRun({ runId: this.name }, { timeoutMs: CALL_MS }));
    }

    /** The stream has ended with the run: all begins anew. */
    private async retry(): Promise<void> {
        if (await this.act(runs.retryRun({ runId: this.name }, { timeoutMs: CALL_MS }))) window.dispatchEvent(new HashChangeEvent("hashchange"));
    }

    private async remove(): Promise<void> {
        const isMeant = confirm(`Delete ${this.name} and all that it has found?`);
        if (isMeant && (await this.act(runs.deleteRun({ runId: this.name }, { timeoutMs: CALL_MS })))) go("");
    }
}
