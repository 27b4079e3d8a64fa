// Which keys mean what.

import { h } from "./dom";

const KEYS: [string, string][] = [
    ["g", "all runs"],
    ["n", "a new run"],
    ["c", "compare"],
    ["/", "search runs"],
    ["j k ↓ ↑", "next and previous run"],
    ["Page Up, Page Down, Home, End", "further in the list"],
    ["Enter", "open a run"],
    ["Space", "choose a run to compare"],
    ["e", "in a run: edit its scenario as a new one"],
    ["Ctrl Space", "in a scenario: what may stand here"],
    ["Ctrl Enter", "in a scenario: submit"],
    ["Escape", "leave a field"],
    ["?", "this"],
];

export function askHelp(): void {
    const list = h("dl", { class: "keys" }, KEYS.flatMap(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]));
    const close = h("button", { class: "main", onclick: () => dialog.close() }, "Close");
    const dialog = h("dialog", { "aria-labelledby": "help-title" }, h("h1", { id: "help-title" }, "Keys"), list, close);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}
