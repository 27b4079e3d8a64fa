// Links over time, drawn. How quick that is, is told and not judged: machines of tests differ.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser } from "./browser.mjs";

let browser;
before(async () => (browser = await Browser.start()));
after(() => browser.stop());

test("two thousand links at a thousand times", async (context) => {
    const page = await browser.open("about:blank", "");
    await page.addScriptTag({ path: process.env.HEAT_MAP });
    const { rows, ms } = await page.evaluate(() => window.begin());
    assert.equal(rows, 2_000_000);
    await page.waitForFunction(() => window.map.frames > 0);
    const slider = page.getByLabel("Time", { exact: true });
    await slider.fill("500");
    await page.getByText("link cycle 50,100, from 0 to 0.999").waitFor();
    assert.match(await page.locator(".busiest li").first().innerText(), /^global, router \d+ port 3 to router \d+: 0\.999$/);
    await slider.press("ArrowRight");
    await page.getByText("link cycle 50,200,").waitFor();
    await page.getByLabel("Measure").selectOption("occupied_vc0");
    await page.getByText("from 0 to 8").waitFor();
    const colours = await page.locator("canvas").evaluate((canvas) => new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, 50, canvas.height).data.buffer)).size);
    assert.ok(colours > 5, "there is a picture");
    await slider.fill("0");
    const began = await page.evaluate(() => [window.map.frames, performance.now()]);
    await page.getByRole("button", { name: "Play" }).click();
    await page.waitForFunction((frames) => window.map.frames > frames + 90, began[0]);
    const ended = await page.evaluate(() => [window.map.frames, performance.now()]);
    context.diagnostic(`read in ${Math.round(ms)} ms, ${Math.round(((ended[0] - began[0]) * 1000) / (ended[1] - began[1]))} frames per second`);
});
