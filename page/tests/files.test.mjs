// Files that scenarios name, chosen in the editor and sent by the page.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";

import { badge, Browser } from "./browser.mjs";
import { Served } from "./served.mjs";

let browser;
let server;
before(async () => ([browser, server] = await Promise.all([Browser.start(), Served.start("file_bytes_max = 3000000\n")])));
afterEach(() => browser.check(server.url));
after(() => Promise.all([browser?.stop(), server?.stop()]));

const SCENARIO = `routing = "minimal"

[topology.dragonfly]
p = 2
a = 4
h = 2
g = 9

[[program]]
messages = "list.csv"
nodes = [7, 50]

[measure]
warmup = 0
cycles = 1000
`;

test("files that a scenario names are sent by the page, and the result is that of the command line", async () => {
    // Of more pieces than one.
    const list = `time,source,destination,flits\n${Array.from({ length: 60_000 }, (_, row) => `${10 * row},${row % 2},${1 - (row % 2)},8\n`).join("")}`;
    assert.ok(list.length > 2 ** 19);
    await writeFile(join(server.folder, "list.csv"), list);
    await writeFile(join(server.folder, "trace.toml"), SCENARIO);
    await writeFile(join(server.folder, "large.csv"), "x".repeat(3_000_001));
    const page = await browser.open(server.url, "#/new");
    await page.getByLabel("Scenario", { exact: true }).fill(SCENARIO);
    const verdict = page.getByTestId("verdict");
    await verdict.locator(".problem").waitFor();
    const choose = page.getByLabel("Files", { exact: true });
    const kept = page.getByRole("list", { name: "Files that the scenario names" });
    await choose.setInputFiles(join(server.folder, "large.csv"));
    await kept.locator(".problem", { hasText: "3000000" }).waitFor();
    await choose.setInputFiles(join(server.folder, "list.csv"));
    await kept.getByRole("button", { name: "leave out list.csv" }).waitFor();
    await verdict.getByText("Nothing is wrong with it.").waitFor();
    await kept.getByRole("button", { name: "leave out list.csv" }).click();
    await verdict.locator(".problem").waitFor();
    await choose.setInputFiles(join(server.folder, "list.csv"));
    await verdict.getByText("Nothing is wrong with it.").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("named");
    await page.getByRole("button", { name: "Submit" }).click();
    await badge(page, "succeeded");
    await server.submit("named-here", SCENARIO, "--wait");
    await page.goto(`${server.url}/#/compare/named/named-here`);
    await page.locator("table.compared").getByText("the same").waitFor();
    await page.context().close();
});
