// The page in a browser, against a server that simulates. Nothing here waits for a time, only for what must come.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";

import { badge, Browser, points } from "./browser.mjs";
import { endless, scenario, Served } from "./served.mjs";

let browser;
let server;
before(async () => ([browser, server] = await Promise.all([Browser.start(), Served.start()])));
afterEach(() => browser.check(server.url));
after(() => Promise.all([browser.stop(), server.stop()]));

test("a run from its scenario to its end", async () => {
    const page = await browser.open(server.url, "#/new");
    const area = page.getByLabel("Scenario", { exact: true });
    await area.fill('routing = "minimal"\nspeed = 3\n\n[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n');
    await page.locator(".gutter .wrong", { hasText: "2" }).waitFor();
    const verdict = page.getByTestId("verdict");
    await verdict.getByRole("button", { name: "line 2" }).click();
    assert.equal(await area.evaluate((field) => field.value.slice(0, field.selectionStart).split("\n").length), 2, "the cursor is there");
    await area.fill(scenario(500_000_000));
    await verdict.getByText("Nothing is wrong with it.").waitFor();
    assert.match(await verdict.innerText(), /Nodes\s+72/);
    await page.getByLabel("Name", { exact: true }).fill("written");
    await page.getByRole("button", { name: "Submit" }).click();
    await badge(page, "running");
    assert.equal(new URL(page.url()).hash, "#/run/written");
    const seen = await points(page, "Accepted load", 1);
    await points(page, "Accepted load", seen);
    await points(page, "Latency of messages", 2);
    await page.getByRole("button", { name: "Cancel" }).click();
    await badge(page, "cancelled");
    await page.getByText("there are no results").waitFor();
    await page.context().close();
});

test("proposals come from the schema", async () => {
    const page = await browser.open(server.url, "#/new");
    const area = page.getByLabel("Scenario", { exact: true });
    const list = page.getByRole("listbox", { name: "Proposals" });
    const proposed = async (text) => {
        await area.fill(text);
        await page.waitForFunction(() => document.querySelectorAll("select optgroup").length > 0);
        await area.press("Control+Space");
        await list.waitFor();
        return list.locator("code").allInnerTexts();
    };
    assert.ok((await proposed("")).includes("routing"));
    const parameters = await proposed("[topology.dragonfly]\n");
    for (const name of ["p", "a", "h", "g"]) assert.ok(parameters.includes(name), `${name} is not among ${parameters}`);
    assert.ok((await proposed("[topology.")).includes("dragonfly"));
    assert.ok((await proposed("[[traffic]]\n")).includes("load"));
    assert.ok((await proposed("[measure]\nwarm"))[0] === "warmup");
    assert.ok((await proposed('routing = "mini')).includes('"minimal"'));
    await area.press("Enter");
    assert.equal(await area.inputValue(), 'routing = "minimal"');
    await page.context().close();
});

test("what a run has found", async () => {
    await server.submit("done", scenario(3000, "series = 500\n"), "--wait");
    const page = await browser.open(server.url, "#/run/done");
    await badge(page, "succeeded");
    await page.getByLabel("Report").getByText("72 nodes, seed 1").waitFor();
    await points(page, "Series", 4);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "report.json" }).click();
    const download = await downloading;
    assert.equal(download.suggestedFilename(), "done-report.json");
    assert.ok(JSON.parse(await readFile(await download.path(), "utf8")).result_digest);
    await page.context().close();
});

test("the curves of a sweep fill as points come", async () => {
    const page = await browser.open(server.url);
    await page.getByTestId("total").getByText("runs").waitFor();
    const over = ["--over", "traffic.load=0.1..0.4/0.1", "--over", "routing=minimal,valiant", "--no-stop"];
    await server.submit("curve", scenario(60_000), ...over);
    await page.locator(".row", { hasText: "curve" }).locator(".tag", { hasText: "sweep" }).waitFor();
    await page.getByRole("link", { name: "curve", exact: true }).click();
    const few = await points(page, "Curves", 0);
    await badge(page, "succeeded");
    await points(page, "Curves", 7);
    assert.ok(few <= 8, `there are ${few} points`);
    assert.equal(await page.locator(".u-legend .u-label", { hasText: "valiant" }).count(), 1);
    await page.getByLabel("Figure").selectOption("acceptedLoad");
    await page.locator('figure[aria-label="Curves"]').getByText("flits per node and cycle").waitFor();
    await page.getByRole("button", { name: "sweep.csv" }).waitFor();
    await page.context().close();
});

test("runs are compared", async () => {
    const kept = scenario(3000, "series = 500\n");
    await server.submit("base", kept, "--wait");
    await server.submit("same", kept, "--wait");
    await server.submit("live", endless());
    const page = await browser.open(server.url, "#/compare/base/same/nobody/live");
    const table = page.locator("table.compared");
    await table.getByText("the same").waitFor();
    await table.getByText("0 %").first().waitFor();
    await table.getByText("nobody").nth(1).waitFor();
    await points(page, "Accepted load", 1);
    // Two runs of seven intervals each, in any column that they have kept.
    await points(page, "Time series", 13);
    const series = page.getByRole("region", { name: "Time series" });
    await series.getByLabel("Column").selectOption("accepted_load");
    for (const name of ["base", "same"]) await series.locator(".u-legend .u-label", { hasText: name }).waitFor();
    await page.getByRole("button", { name: "leave out nobody" }).click();
    await page.waitForURL(/#\/compare\/base\/same\/live$/);
    await server.ask("cancel", "live");
    await table.locator(".badge.cancelled").waitFor();
    await page.context().close();
});

test("links and congestion trees of a run that has kept them", async () => {
    const page = await browser.open(server.url, "#/new");
    const hot = '[[traffic]]\nname = "hot"\nload = 0.2\nfrom = { outside = [0] }\npattern.hot-spot.to = [0]\nstart = 1000\nsaturates = true\n';
    const document = `${scenario(6000, "links = { every = 200 }\ntrees = { every = 200 }\n")}`.replace("[measure]", `${hot}\n[measure]`);
    await page.getByLabel("Scenario", { exact: true }).fill(document);
    await page.getByLabel("Name", { exact: true }).fill("kept");
    await page.getByRole("button", { name: "Submit" }).click();
    await badge(page, "succeeded");
    const trees = page.getByRole("region", { name: "Congestion trees at this time" });
    await trees.getByText("ejection").first().waitFor();
    await page.locator(".busiest li", { hasText: "node 0" }).first().waitFor();
    await page.getByLabel("Time", { exact: true }).fill("0");
    await trees.getByText("no tree at link cycle 200").waitFor();
    await page.context().close();
});

test("what is wrong in the server is told in its words, and not taken for silence", async () => {
    await server.submit("intact", scenario(400));
    const page = await browser.open(server.url, "#/new");
    const message = "something is wrong in the server: it is a test";
    const headers = { "content-type": "application/grpc-web+proto", "grpc-status": "13", "grpc-message": message };
    for (const method of ["ListRuns", "GetRun"]) await page.route(`**/tailback.v1.RunService/${method}`, (route) => route.fulfill({ headers }));
    for (const place of ["#/", "#/run/intact"]) {
        await page.evaluate((hash) => (location.hash = hash), place);
        await page.getByText(message).waitFor();
        assert.equal(await page.getByTestId("presence").innerText(), "connected");
    }
    await page.context().close();
});

test("a server that was killed is found again, and the run goes on", async () => {
    await server.submit("lasting", endless());
    const page = await browser.open(server.url, "#/run/lasting");
    await points(page, "Accepted load", 3);
    const presence = page.getByTestId("presence");
    await server.kill();
    await presence.getByText("connection lost").waitFor();
    assert.ok(await page.locator("h1", { hasText: "lasting" }).isVisible(), "what was known is shown still");
    const seen = await points(page, "Accepted load", 0);
    await server.begin();
    await presence.getByText("connected").waitFor();
    await badge(page, "running");
    await points(page, "Accepted load", seen);
    await page.getByText("Taken up again").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await badge(page, "cancelled");
    await page.context().close();
});

test("all can be done with the keys", async () => {
    const page = await browser.open(server.url);
    await page.getByTestId("total").getByText("runs").waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
    await page.keyboard.press("j");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "grid");
    await page.keyboard.press("Home");
    const name = await page.locator(".row.current .name a").innerText();
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Compare 2" }).waitFor();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.locator("h1", { hasText: name }).waitFor();
    await page.keyboard.press("c");
    await page.locator("table.compared thead a").nth(1).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("all runs").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    await page.getByLabel("Scenario", { exact: true }).waitFor();
    await page.keyboard.press("g");
    await page.locator(".rows .row").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("no such run");
    await page.getByText("No run is like that.").waitFor();
    await page.context().close();
});

test("a narrow window shows what a wide one does", async () => {
    for (const width of [320, 400, 800]) {
        const page = await browser.open(server.url, "#/", { width, height: 700 });
        for (const [place, wanted] of [["", ".rows .row"], ["run/done", "pre.report"], ["run/curve", ".uplot"], ["compare/base/same", "table.compared .badge"], ["new", "textarea"]]) {
            await page.goto(`${server.url}/#/${place}`);
            await page.locator(wanted).first().waitFor();
            const excess = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
            assert.ok(excess <= 0, `${place} is ${excess} pixels too wide for ${width}`);
        }
        await page.context().close();
    }
});
