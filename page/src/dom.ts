// Elements without markup: nothing that a server says is ever read as HTML.

type Child = Node | string | number | null | undefined | false;
type Properties = Record<string, unknown>;

/** Makes an element. Properties that are functions listen to events, `true` is an attribute without a value. */
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    properties: Properties = {},
    ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (typeof value === "function") {
            element.addEventListener(name.replace(/^on/, ""), value as EventListener);
        } else if (value === true) {
            element.setAttribute(name, "");
        } else if (value !== false && value !== null && value !== undefined) {
            element.setAttribute(name, String(value));
        }
    }
    element.append(...nodes(children));
    return element;
}

function nodes(children: (Child | Child[])[]): (Node | string)[] {
    const kept = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
    return kept.map((child) => (child instanceof Node ? child : String(child)));
}

/** Replaces all that an element holds. */
export function fill(element: Element, ...children: (Child | Child[])[]): void {
    element.replaceChildren(...nodes(children));
}

/** Sets a text only if it differs, so that what is selected stays selected. */
export function say(element: Element, text: string): void {
    if (element.textContent !== text) element.textContent = text;
}

/** What is shown at a time; `stop` ends all that it has begun. */
export interface View {
    readonly title: string;
    readonly element: HTMLElement;
    stop(): void;
    /** Keys that mean something here; true if this one did. */
    key?(event: KeyboardEvent): boolean;
}

/** A choice among few. */
export function choice(
    label: string,
    options: readonly (readonly [value: string, text: string])[],
    chosen: string,
    onchange: (value: string) => void,
): HTMLLabelElement {
    const select = h("select", { onchange: () => onchange(select.value) });
    for (const [value, text] of options) select.append(h("option", { value, selected: value === chosen }, text));
    return h("label", { class: "field" }, h("span", {}, label), select);
}

/** Gives a text to the browser as a file. */
export function save(name: string, parts: BlobPart[], type: string): void {
    const url = URL.createObjectURL(new Blob(parts, { type }));
    const link = h("a", { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
