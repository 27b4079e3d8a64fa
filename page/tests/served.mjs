// A server for tests: the program in a folder of its own, on ports of the system's choice.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const PROGRAM = process.env.TAILBACK;

/** A dragonfly of 72 nodes for so many link cycles. */
export const scenario = (cycles, more = "") => `title = "A small dragonfly"
routing = "minimal"

[topology.dragonfly]
p = 2
a = 4
h = 2
g = 9

[[traffic]]
load = 0.3

[measure]
warmup = 100
cycles = ${cycles}
${more}`;

/** For longer than any test waits. */
export const endless = () => scenario(500_000_000);

export class Served {
    static async start(limits = "", more = [], concurrent = 2) {
        const folder = await mkdtemp(join(tmpdir(), "tailback-page-"));
        const quick = `concurrent_runs_max = ${concurrent}\nthreads_max = 2\nsample_interval_ms = 50\ncheckpoint_interval_ms = 50\nrefusal_pause_ms_max = 0\n`;
        await writeFile(join(folder, "limits.toml"), quick + limits);
        const served = new Served(folder, more);
        await served.begin(0, 0);
        return served;
    }

    constructor(folder, more) {
        [this.folder, this.more] = [folder, more];
    }

    /** Starts the program, the second time at the same ports. */
    async begin(port = this.port, pagePort = this.pagePort) {
        const listen = ["--listen", `127.0.0.1:${port}`, "--page", `127.0.0.1:${pagePort}`];
        const all = ["serve", ...listen, "--data", join(this.folder, "data"), "--limits", join(this.folder, "limits.toml"), ...this.more];
        this.child = spawn(PROGRAM, all, { stdio: ["ignore", "pipe", "ignore"] });
        for await (const line of createInterface({ input: this.child.stdout })) {
            const [, name, url] = /^(\S+) on (https?:\S+)$/.exec(line) ?? [];
            if (name === "listening") [this.server, this.port] = [url, new URL(url).port];
            if (name === "page") {
                [this.url, this.pagePort] = [url, new URL(url).port];
                return;
            }
        }
        throw new Error("the server says no address");
    }

    /** Runs the program against it; gives what it says. */
    async ask(...given) {
        const child = spawn(PROGRAM, [...given, "--server", this.server], { cwd: this.folder, stdio: ["ignore", "pipe", "inherit"] });
        let said = "";
        child.stdout.on("data", (data) => (said += data));
        const [code] = await once(child, "close");
        if (code !== 0) throw new Error(`tailback ${given.join(" ")} ends with ${code}`);
        return said;
    }

    /** Submits a scenario under a name. */
    async submit(id, document, ...more) {
        await writeFile(join(this.folder, `${id}.toml`), document);
        await this.ask("submit", `${id}.toml`, "--id", id, "--quiet", ...more);
    }

    /** Without any chance to do something about it. */
    async kill() {
        const ended = once(this.child, "close");
        this.child.kill("SIGKILL");
        await ended;
    }

    async stop() {
        if (this.child.exitCode === null && this.child.signalCode === null) await this.kill();
        await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
    }
}
