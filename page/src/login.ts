// Asking for the token that shows who is there.

import { h } from "./dom";

/** Asks; `wasWrong` says that one was shown and is not known. It is told once. */
export function askToken(wasWrong: boolean, tell: (token: string) => void): void {
    const input = h("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true, id: "token" });
    const problem = wasWrong && h("p", { class: "problem", role: "alert" }, "This token is not known, was revoked, or has expired.");
    const dialog = h(
        "dialog",
        { class: "login", "aria-labelledby": "login-title" },
        h(
            "form",
            {
                method: "dialog",
                onsubmit: (event: Event) => {
                    event.preventDefault();
                    dialog.close();
                    dialog.remove();
                    tell(input.value.trim());
                },
            },
            h("h1", { id: "login-title" }, "Who is there?"),
            h("p", {}, "This server lets in bearers of a token. An administrator makes one with ", h("code", {}, "tailback token"), "."),
            problem,
            h("label", { class: "field wide", for: "token" }, h("span", {}, "Token"), input),
            h("p", { class: "quiet" }, "It is kept until this tab is closed, and shown to this server only."),
            h("button", { class: "main" }, "Let me in"),
        ),
    );
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    document.body.append(dialog);
    dialog.showModal();
}
