// The page: what is above all else, and which view is shown.

import { fill, h, say, type View } from "./dom";
import { count } from "./format";
import { askHelp } from "./help";
import { askToken } from "./login";
import { go, here } from "./places";
import { CALL_MS, call, hasToken, onPresence, type Presence, repeat, setPresence, setToken, system } from "./server";
import { compare } from "./views/compare";
import { editor } from "./views/editor";
import { runList } from "./views/run_list";
import { runView } from "./views/run";

const INFO_MS = 5000;
const PRESENCES: Record<Presence, string> = {
    connecting: "connecting",
    connected: "connected",
    lost: "connection lost, trying again",
    refused: "not let in",
};

const main = h("main", { id: "main", tabindex: -1 });
const presence = h("span", { class: "presence", role: "status", "data-testid": "presence" });
const server = h("span", { class: "quiet server" });
const leave = h("button", { class: "plain", hidden: true, onclick: forget }, "Forget token");
const links = [
    ["", "Runs"],
    ["new", "New run"],
    ["compare", "Compare"],
].map(([kind = "", text = ""]) => h("a", { href: `#/${kind}`, "data-kind": kind }, text));
let view: View | undefined;
let isAsking = false;

function forget(): void {
    setToken("");
    location.reload();
}

function viewHere(): View {
    const { kind, names } = here();
    const [name] = names;
    switch (kind) {
        case "run":
            return name ? runView(name) : runList();
        case "compare":
            return compare(names);
        case "new":
            return editor(name);
        default:
            return runList();
    }
}

function show(): void {
    view?.stop();
    view = viewHere();
    fill(main, view.element);
    document.title = view.title === "Runs" ? "tailback" : `${view.title} – tailback`;
    const { kind } = here();
    for (const link of links) {
        if (link.dataset.kind === kind || (kind === "run" && link.dataset.kind === "")) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    window.scrollTo(0, 0);
}

async function readInfo(signal: AbortSignal): Promise<number> {
    const info = await call(system.getServerInfo({}, { signal, timeoutMs: CALL_MS }));
    const who = info.caller === "local" ? "" : `, ${info.caller} (${info.callerRole})`;
    say(server, `${count(info.runsRunning)} running, ${count(info.runsPending)} pending${who}`);
    server.title = `tailback ${info.version}`;
    leave.hidden = !hasToken();
    return INFO_MS;
}

function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = event.target as HTMLElement;
    if (event.key === "Escape" && target !== document.body) {
        target.blur();
        return;
    }
    if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return;
    if (view?.key?.(event)) event.preventDefault();
    else if (event.key === "?") askHelp();
    else if (event.key === "g") go("");
    else if (event.key === "n") go("new");
    else if (event.key === "c") go("compare");
    else return;
    event.preventDefault();
}

function start(): void {
    const skip = h("a", { class: "skip", href: "#main", onclick: (event: Event) => (event.preventDefault(), main.focus()) }, "Skip to content");
    const brand = h("a", { class: "brand", href: "#/" }, h("img", { src: "/icon.svg", alt: "", width: 22, height: 22 }), "tailback");
    const help = h("button", { class: "plain", "aria-label": "Keys", title: "Keys (?)", onclick: askHelp }, "?");
    const header = h("header", {}, brand, h("nav", { "aria-label": "Places" }, links), h("span", { class: "room" }), server, presence, leave, help);
    document.body.append(skip, header, main);
    onPresence((now) => {
        presence.className = `presence ${now}`;
        say(presence, PRESENCES[now]);
        if (now === "refused" && !isAsking) {
            isAsking = true;
            askToken(hasToken(), (token) => {
                isAsking = false;
                setToken(token);
                setPresence("connecting");
                void begin();
            });
        }
    });
    window.addEventListener("hashchange", show);
    document.addEventListener("keydown", onKey);
    void begin();
}

let asking = new AbortController();

/** Shows nothing before it is known whether the server lets anybody in. */
async function begin(): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    let isShown = false;
    await repeat(signal, async () => {
        const next = await readInfo(signal);
        if (!isShown) show();
        isShown = true;
        return next;
    });
}

start();
