// A browser for tests, which notes what must never happen: requests to others, refusals of the policy, tokens in addresses.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export class Browser {
    static async start() {
        const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
        return new Browser(await chromium.launch({ executablePath, args: QUIET, headless: true }));
    }

    constructor(browser) {
        this.browser = browser;
        this.requests = [];
        this.problems = [];
    }

    /** Opens a place of the page in a window of its own, of a browser with more options if there are any. */
    async open(url, place = "#/", viewport = { width: 1280, height: 800 }, options = {}) {
        const context = await this.browser.newContext({ viewport, ...options });
        context.setDefaultTimeout(20_000);
        const page = await context.newPage();
        page.on("request", (request) => this.requests.push(request.url()));
        page.on("pageerror", (error) => this.problems.push(error.message));
        page.on("console", (message) => {
            // The browser says so when a server is gone or lets nobody in; that is tested elsewhere.
            const isLoss = /Failed to load resource|ERR_/.test(message.text());
            if (["error", "warning"].includes(message.type()) && !isLoss) this.problems.push(message.text());
        });
        await page.goto(place ? `${url}/${place}` : url);
        return page;
    }

    /** Nothing has happened that must not. */
    check(url, secret) {
        assert.deepEqual(this.problems, []);
        const others = this.requests.filter((request) => !request.startsWith(`${url}/`) && !request.startsWith("blob:") && !request.startsWith("data:"));
        assert.deepEqual(others, []);
        if (secret) assert.ok(this.requests.every((request) => !request.includes(secret)), "a token is in an address");
        this.requests = [];
    }

    async stop() {
        await this.browser.close();
    }
}

/** Waits until a chart shows more than so many points. */
export async function points(page, title, more) {
    const chart = page.locator(`figure[aria-label="${title}"]`);
    await page.waitForFunction(([element, least]) => Number(element.dataset.points ?? 0) > least, [await chart.elementHandle(), more]);
    return Number(await chart.getAttribute("data-points"));
}

export async function badge(page, word) {
    await page.locator(`h1 .badge.${word}`).waitFor();
}
