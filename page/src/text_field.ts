// A field for scenarios: line numbers, marks of lines with mistakes, and proposals of what may stand where the cursor is.

import { propose, type Proposals, type Schema } from "./completion";
import { fill, h } from "./dom";

/** Proposals that are shown at once. */
const SHOWN = 60;

export class TextField {
    readonly element: HTMLElement;
    readonly area: HTMLTextAreaElement;
    schema: Schema | undefined;
    private readonly gutter = h("div", { class: "gutter", "aria-hidden": "true" });
    private readonly list = h("ul", { class: "proposals", role: "listbox", id: "proposals", "aria-label": "Proposals", hidden: true });
    private readonly ruler = h("span", { class: "ruler", "aria-hidden": "true" }, "0000000000");
    private marks = new Map<number, string>();
    private proposals: Proposals = { from: 0, list: [] };
    private chosen = 0;

    constructor(
        text: string,
        private readonly changed: () => void,
    ) {
        this.area = h("textarea", {
            "aria-label": "Scenario",
            "aria-autocomplete": "list",
            "aria-controls": "proposals",
            spellcheck: "false",
            autocomplete: "off",
            autocapitalize: "off",
            wrap: "off",
            oninput: (event: InputEvent) => {
                this.drawGutter();
                this.changed();
                // Only what is written is helped with, not what is pasted or deleted.
                if (event.inputType === "insertText" && /[\w"=.[-]/.test(event.data ?? "")) this.offer(false);
                else this.close();
            },
            onkeydown: (event: KeyboardEvent) => this.onKey(event),
            onscroll: () => {
                this.gutter.scrollTop = this.area.scrollTop;
                this.close();
            },
            onblur: () => this.close(),
        });
        this.area.value = text;
        this.list.addEventListener("mousedown", (event) => {
            event.preventDefault();
            const item = (event.target as HTMLElement).closest("li");
            if (item) this.take([...this.list.children].indexOf(item));
        });
        this.element = h("div", { class: "text-field" }, this.gutter, this.area, this.list, this.ruler);
        this.drawGutter();
    }

    get value(): string {
        return this.area.value;
    }

    set value(text: string) {
        this.area.value = text;
        this.mark(new Map());
        this.changed();
    }

    /** Marks lines, counted from 1, with what is wrong there. */
    mark(marks: Map<number, string>): void {
        this.marks = marks;
        this.drawGutter();
    }

    goTo(line: number, column: number): void {
        const lines = this.value.split("\n");
        const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
        this.area.focus();
        this.area.setSelectionRange(start + column - 1, start + Math.max(column, (lines[line - 1] ?? "").length + 1) - 1);
        this.area.scrollTop = (line - 6) * this.lineHeight;
    }

    private get lineHeight(): number {
        return Number.parseFloat(getComputedStyle(this.area).lineHeight);
    }

    private drawGutter(): void {
        const number = this.value.split("\n").length;
        const key = JSON.stringify([number, [...this.marks]]);
        if (this.gutter.dataset.key === key) return;
        this.gutter.dataset.key = key;
        fill(this.gutter, Array.from({ length: number }, (_, index) => h("div", { class: this.marks.has(index + 1) ? "wrong" : "", title: this.marks.get(index + 1) ?? null }, String(index + 1))));
        this.gutter.scrollTop = this.area.scrollTop;
    }

    private offer(isAsked: boolean): void {
        const at = this.area.selectionStart;
        if (!this.schema || at !== this.area.selectionEnd) return this.close();
        this.proposals = propose(this.value, at, this.schema);
        if (!isAsked && this.proposals.from === at && this.value[at - 1] !== "=") return this.close();
        this.proposals.list = this.proposals.list.slice(0, SHOWN);
        if (this.proposals.list.length === 0) return this.close();
        this.chosen = 0;
        fill(this.list, this.proposals.list.map(({ text, detail }, index) => h("li", { role: "option", id: `proposal-${index}` }, h("code", {}, text), h("span", { class: "quiet" }, detail))));
        this.list.hidden = false;
        this.place();
        this.choose(0);
    }

    /** Below the cursor, as far as there is room. */
    private place(): void {
        const before = this.value.slice(0, this.proposals.from);
        const row = before.split("\n").length;
        const column = before.length - before.lastIndexOf("\n") - 1;
        const [width, padding] = [this.ruler.getBoundingClientRect().width / 10, 10];
        const left = this.area.offsetLeft + padding + column * width - this.area.scrollLeft;
        this.list.style.left = `${Math.max(0, Math.min(left, this.element.clientWidth - this.list.offsetWidth))}px`;
        this.list.style.top = `${padding + row * this.lineHeight - this.area.scrollTop}px`;
    }

    private choose(index: number): void {
        const number = this.proposals.list.length;
        this.chosen = (index + number) % number;
        [...this.list.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === this.chosen)));
        this.list.children[this.chosen]?.scrollIntoView({ block: "nearest" });
        this.area.setAttribute("aria-activedescendant", `proposal-${this.chosen}`);
    }

    private take(index: number): void {
        const proposal = this.proposals.list[index];
        if (!proposal) return;
        // A quotation mark behind the cursor is the one that is put in.
        const end = this.area.selectionEnd;
        const behind = proposal.text.endsWith('"') && this.value[end] === '"' ? 1 : 0;
        this.area.setRangeText(proposal.text, this.proposals.from, end + behind, "end");
        this.close();
        this.drawGutter();
        this.changed();
    }

    private close(): void {
        this.list.hidden = true;
        this.area.removeAttribute("aria-activedescendant");
    }

    private onKey(event: KeyboardEvent): void {
        if (event.key === " " && event.ctrlKey) this.offer(true);
        else if (this.list.hidden) return;
        else if (event.key === "ArrowDown" || event.key === "ArrowUp") this.choose(this.chosen + (event.key === "ArrowDown" ? 1 : -1));
        else if (event.key === "Enter" || event.key === "Tab") this.take(this.chosen);
        else if (event.key === "Escape") this.close();
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
}
