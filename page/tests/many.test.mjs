// Ten thousand runs, and a server that asks for tokens.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { Browser } from "./browser.mjs";
import { endless, scenario, Served } from "./served.mjs";

const { createMany } = await import(process.env.CLIENT);

let browser;
let server;
beforeEach(async () => (browser = await Browser.start()));
afterEach(() => Promise.all([browser.stop(), server?.stop()]));

test("ten thousand runs cost what a screen of them does", async () => {
    server = await Served.start("queue_max = 20000\n", [], 1);
    await server.submit("first", endless());
    await createMany(server.url, 10_000, scenario(400));
    const page = await browser.open(server.url);
    await page.getByTestId("total").getByText("10,001 runs", { exact: true }).waitFor();
    const rows = () => page.locator(".rows .row").count();
    assert.ok((await rows()) < 60);
    assert.equal(await page.getByRole("grid").getAttribute("aria-rowcount"), "10002");
    await page.getByRole("grid").focus();
    await page.keyboard.press("End");
    await page.locator('.row.current [href="#/run/first"]').waitFor();
    assert.ok((await rows()) < 60);
    await page.getByLabel("Search runs").fill("run-0500");
    await page.getByTestId("total").getByText("10 of 10,001").waitFor();
    await page.getByLabel("Search runs").fill("");
    await page.getByRole("grid").evaluate((grid) => grid.scrollTo(0, grid.scrollHeight / 2));
    await page.locator(".rows .row", { hasText: "run-0500" }).first().waitFor();
    // One that comes now is seen at once, and what is looked at stays.
    await server.submit("last", scenario(400));
    await page.getByTestId("total").getByText("10,002 runs").waitFor();
    browser.check(server.url);
});

test("a token lets in, and is in no address and no lasting place", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tailback-token-"));
    const file = join(folder, "tokens");
    const made = spawnSync(process.env.TAILBACK, ["token", "alice", "--role", "submit", "--tokens", file], { encoding: "utf8" });
    const token = made.stdout.trim();
    assert.ok(token.length > 20, made.stderr);
    server = await Served.start("", ["--tokens", file]);
    const page = await browser.open(server.url, "#/new");
    const field = page.getByLabel("Token", { exact: true });
    await field.fill("tb_wrong");
    await field.press("Enter");
    await page.getByRole("alert").getByText("not known").waitFor();
    await field.fill(token);
    await field.press("Enter");
    await page.getByText("alice (submit)").waitFor();
    await page.getByLabel("Scenario", { exact: true }).fill(scenario(400));
    await page.getByTestId("verdict").getByText("Nothing is wrong").waitFor();
    await page.getByRole("button", { name: "Submit" }).click();
    await page.locator("h1 .badge.succeeded").waitFor();
    // A tab that is loaded again is let in still; another one is not.
    await page.reload();
    await page.locator("h1 .badge.succeeded").waitFor();
    assert.equal(await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }])), '["",{}]');
    const other = await browser.open(server.url);
    await other.getByLabel("Token", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Forget token" }).click();
    await field.waitFor();
    browser.check(server.url, token);
});
