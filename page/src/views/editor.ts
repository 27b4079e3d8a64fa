// A new run: its scenario, what is wrong with it, and what it would take.

import { create } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";

import type { Schema } from "../completion";
import { fill, h, type View } from "../dom";
import { bytes, count } from "../format";
import { type Scenario, ScenarioSchema, type Sweep, SweepSchema } from "../generated/tailback/v1/run_pb";
import { type Diagnostic, type Plan } from "../generated/tailback/v1/scenario_service_pb";
import { go } from "../places";
import { CALL_MS, call, note, once, pause, runs, scenarios, words } from "../server";
import { TextField } from "../text_field";
import { upload } from "../upload";

const DRAFT = "tailback.draft";
/** How long nothing is written before it is checked. */
const CHECK_MS = 350;

const FIRST = `title = "A dragonfly of 1,056 nodes"
routing = "minimal"

[topology.dragonfly]
p = 4                 # nodes per router
a = 8                 # routers per group
h = 4                 # global links per router
g = 33                # groups

[[traffic]]
load = 0.5            # flits per node and cycle
`;

/** What a scenario has beside its document. */
type Base = Partial<Pick<Scenario, "name" | "overrides" | "files">>;

export function editor(from?: string): View {
    return new Editor(from);
}

class Editor implements View {
    readonly title = "New run";
    readonly element: HTMLElement;
    private readonly controller = new AbortController();
    private checking = new AbortController();
    private readonly field: TextField;
    private readonly name = this.input("Chosen by the server", "Letters, digits and hyphens, lower case");
    private readonly over = this.input("traffic.load=0.1..0.9/0.1", "What to vary, as in traffic.load=0.1..0.9/0.1; several apart by spaces");
    private readonly seeds = h("input", { type: "number", min: 1, max: 1000, placeholder: "1" });
    private readonly project = this.input("None", "Only those in this project see the run, and may cancel, retry and delete it");
    private readonly isPrivate = h("input", { type: "checkbox" });
    private readonly reuse = h("input", { type: "checkbox" });
    private readonly verdict = h("div", { class: "verdict", role: "status", "data-testid": "verdict" });
    private readonly submit = h("button", { class: "main", onclick: () => void this.send() }, "Submit");
    private readonly chosen = h("input", { type: "file", multiple: true, onchange: () => void this.choose() });
    private readonly files = h("ul", { class: "files", "aria-label": "Files that the scenario names", "aria-live": "polite" });
    /** Files that the server has not taken, and why. */
    private refused: HTMLElement[] = [];
    private base: Base = {};
    /** Makes repeated attempts one, for as long as the same is asked for. */
    private requestId = newId();

    constructor(from: string | undefined) {
        this.field = new TextField(sessionStorage.getItem(DRAFT) ?? FIRST, () => this.changed());
        const examples = h("select", { onchange: () => void this.example(examples.value) }, h("option", { value: "" }, "…"));
        const labelled = (text: string, input: HTMLElement) => h("label", { class: "field" }, h("span", {}, text), input);
        const checked = (text: string, input: HTMLElement) => h("label", { class: "check" }, input, text);
        for (const input of [this.over, this.seeds, this.name]) input.addEventListener("input", () => this.changed());
        this.element = h(
            "section",
            { class: "editor", onkeydown: (event: KeyboardEvent) => event.key === "Enter" && event.ctrlKey && void this.send() },
            h("div", { class: "bar" }, h("h1", {}, "New run"), labelled("Start from", examples)),
            h(
                "div",
                { class: "halves" },
                this.field.element,
                h("div", { class: "side" }, labelled("Name", this.name), labelled("Vary", this.over), labelled("Seeds", this.seeds), labelled("Project", this.project), labelled("Files", this.chosen), this.files, checked("private: only I see it", this.isPrivate), checked("take results that are there", this.reuse), this.submit, this.verdict),
            ),
        );
        void this.readModels(examples);
        if (from) void this.readRun(from);
        else this.changed();
    }

    stop(): void {
        this.controller.abort();
        this.checking.abort();
    }

    private input(placeholder: string, title: string): HTMLInputElement {
        return h("input", { placeholder, title, spellcheck: "false", autocomplete: "off" });
    }

    private get options() {
        return { signal: this.controller.signal, timeoutMs: CALL_MS };
    }

    private async readModels(into: HTMLSelectElement): Promise<void> {
        await once(this.controller.signal, async () => {
            const { jsonSchema } = await call(scenarios.getScenarioSchema({}, this.options));
            this.field.schema = JSON.parse(jsonSchema) as Schema;
            const { models } = await call(scenarios.listModels({}, this.options));
            const kinds = [...new Set(models.map((model) => model.kind))];
            into.append(
                ...kinds.map((kind) => {
                    const group = h("optgroup", { label: kind });
                    group.append(...models.filter((model) => model.kind === kind).map((model) => h("option", { value: `${kind}/${model.name}`, title: model.summary }, model.name)));
                    return group;
                }),
            );
        });
    }

    private async example(chosen: string): Promise<void> {
        const [kind = "", name = ""] = chosen.split("/");
        if (!name) return;
        const { model } = await call(scenarios.getModel({ kind, name }, this.options));
        if (model) this.replace(model.example, {});
    }

    private async readRun(runId: string): Promise<void> {
        try {
            const { run } = await call(runs.getRun({ runId }, this.options));
            if (!run?.scenario) return;
            const { document, overrides, files, name } = run.scenario;
            this.over.value = run.sweep?.over.join(" ") ?? "";
            this.seeds.value = run.sweep?.seeds ? String(run.sweep.seeds) : "";
            this.replace(document, { overrides, files, name });
        } catch (error) {
            fill(this.verdict, h("p", { class: "problem" }, words(error)));
        }
    }

    /** Sends files that were chosen: the scenario may name each by its own name. */
    private async choose(): Promise<void> {
        const chosen = [...(this.chosen.files ?? [])];
        this.chosen.value = "";
        this.refused = [];
        for (const file of chosen) {
            this.showFiles();
            this.files.append(h("li", {}, h("code", {}, file.name), h("span", { class: "quiet" }, ` ${bytes(BigInt(file.size))}: being sent`)));
            try {
                const sha256 = await upload(file, this.controller.signal);
                this.base = { ...this.base, files: { ...this.base.files, [file.name]: sha256 } };
            } catch (error) {
                if (this.controller.signal.aborted) return;
                this.refused.push(h("li", {}, h("code", {}, file.name), h("span", { class: "problem" }, `: ${words(error)}`)));
            }
        }
        this.showFiles();
        this.changed();
    }

    /** The files that the server has, which the scenario may name. */
    private showFiles(): void {
        const leaveOut = (name: string) => {
            const { [name]: _, ...files } = this.base.files ?? {};
            this.base = { ...this.base, files };
            this.showFiles();
            this.changed();
        };
        const row = ([name, sha256]: [string, string]) =>
            h("li", {}, h("code", {}, name), h("span", { class: "quiet", title: sha256 }, ` ${sha256.slice(0, 12)}`), h("button", { class: "plain", "aria-label": `leave out ${name}`, onclick: () => leaveOut(name) }, "×"));
        fill(this.files, Object.entries(this.base.files ?? {}).map(row), this.refused);
    }

    private replace(document: string, base: Base): void {
        this.base = base;
        this.showFiles();
        this.field.value = document;
    }

    private get scenario(): Scenario {
        return create(ScenarioSchema, { name: "scenario.toml", ...this.base, document: this.field.value });
    }

    private get sweep(): Sweep | undefined {
        const over = this.over.value.split(/\s+/).filter((text) => text !== "");
        const seeds = Number(this.seeds.value) || 0;
        const isInDocument = /^\s*\[sweep\b/m.test(this.field.value);
        return over.length > 0 || seeds > 1 || isInDocument ? create(SweepSchema, { over, seeds }) : undefined;
    }

    private changed(): void {
        this.requestId = newId();
        sessionStorage.setItem(DRAFT, this.field.value);
        this.checking.abort();
        this.checking = new AbortController();
        void this.check(this.checking.signal);
    }

    private async check(signal: AbortSignal): Promise<void> {
        await pause(CHECK_MS, signal);
        await once(signal, async () => {
            try {
                const checked = await call(scenarios.validateScenario({ scenario: this.scenario, sweep: this.sweep }, { signal, timeoutMs: CALL_MS }));
                if (!signal.aborted) this.tell(checked.diagnostics, checked.notes, checked.plan, checked.resolved);
            } catch (error) {
                if (signal.aborted || words(error) === "the server does not answer") throw error;
                this.tellProblem(words(error));
            }
        });
    }

    private tellProblem(text: string): void {
        this.field.mark(new Map());
        fill(this.verdict, h("p", { class: "problem", role: "alert" }, text));
    }

    private tell(diagnostics: Diagnostic[], notes: Diagnostic[], plan: Plan | undefined, resolved: string): void {
        const lines = new Map<number, string>();
        for (const { line, message, source } of diagnostics) if (line > 0 && source === this.scenario.name) lines.set(line, message);
        this.field.mark(lines);
        this.verdict.dataset.mistakes = String(diagnostics.length);
        const heading = diagnostics.length === 0 ? h("p", { class: "good" }, "Nothing is wrong with it.") : h("p", { class: "problem" }, diagnostics.length === 1 ? "One mistake" : `${diagnostics.length} mistakes`);
        fill(this.verdict, heading, h("ol", { class: "diagnostics" }, [...diagnostics, ...notes].map((diagnostic) => this.diagnostic(diagnostic))), plan && facts(plan), resolved && h("details", {}, h("summary", {}, "With all defaults"), h("pre", { tabindex: 0 }, resolved)));
    }

    private diagnostic({ message, help, details, source, line, column }: Diagnostic): HTMLElement {
        const isHere = line > 0 && source === this.scenario.name;
        const place = isHere ? h("button", { class: "plain link", onclick: () => this.field.goTo(line, column) }, `line ${line}`) : source && h("code", {}, source);
        return h("li", {}, place, place ? ": " : "", message, help && h("p", { class: "quiet" }, help), details.map((detail) => h("p", { class: "quiet" }, detail)));
    }

    private async send(): Promise<void> {
        if (this.submit.disabled) return;
        this.submit.disabled = true;
        try {
            const request = { requestId: this.requestId, runId: this.name.value.trim(), scenario: this.scenario, sweep: this.sweep, private: this.isPrivate.checked, project: this.project.value.trim(), reuse: this.reuse.checked };
            const { run } = await call(runs.createRun(request, this.options));
            if (run) go("run", run.id);
        } catch (error) {
            note(error);
            fill(this.verdict, h("p", { class: "problem", role: "alert" }, `It is not accepted: ${ConnectError.from(error).rawMessage}`));
        }
        this.submit.disabled = false;
    }
}

function facts(plan: Plan): HTMLElement {
    const list: [string, string][] = [
        ["Nodes", count(plan.nodes)],
        ["Routers", count(plan.routers)],
        ["Links", count(plan.links)],
        ["Link cycles", count(plan.cycles)],
        ["Memory", `about ${bytes(plan.memoryBytes)}`],
        ["Runs", count(plan.runs)],
        ["Deadlock freedom", plan.deadlockFreedom],
    ];
    return h("dl", { class: "facts narrow" }, list.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** `crypto.randomUUID` is there over https and on this machine only. */
function newId(): string {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
