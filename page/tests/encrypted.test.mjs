// The page of a server that is encrypted and asks browsers for certificates: who has one that it knows is let in without a token.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";

import { badge, Browser, points } from "./browser.mjs";
import { endless, scenario, Served } from "./served.mjs";

/** Two roots; certificates of a server and of a client that the first has signed, and one of a stranger. */
const MADE = `set -e
key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out $1.key; }
for root in root elsewhere; do key $root; openssl req -x509 -new -key $root.key -subj /CN=$root -days 2 -out $root.pem; done
sign() {
    key $1; openssl req -new -key $1.key -subj /CN=$1 -out $1.csr
    printf 'basicConstraints=CA:FALSE\\nsubjectAltName=DNS:localhost,IP:127.0.0.1' >$1.ext
    openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial -days 2 -extfile $1.ext -out $1.pem
}
sign server root; sign client root; sign stranger elsewhere`;

let folder;
let browser;
let server;
const file = (name) => join(folder, name);

before(async () => {
    folder = await mkdtemp(join(tmpdir(), "tailback-certificates-"));
    execFileSync("sh", ["-c", MADE], { cwd: folder, stdio: "ignore" });
    execFileSync(process.env.TAILBACK, ["token", "alice", "--cert", file("client.pem"), "--tokens", file("tokens")]);
    const asked = ["--tls-cert", file("server.pem"), "--tls-key", file("server.key"), "--client-ca", file("root.pem"), "--tokens", file("tokens")];
    [browser, server] = await Promise.all([Browser.start(), Served.start("", asked)]);
});
afterEach(() => browser.check(server.url));
after(async () => {
    await Promise.all([browser?.stop(), server?.stop()]);
    await rm(folder, { recursive: true, force: true });
});

/** What a browser has of which somebody has given it a certificate. */
const holding = (name) => ({
    ignoreHTTPSErrors: true,
    clientCertificates: [{ origin: server.url, certPath: file(`${name}.pem`), keyPath: file(`${name}.key`) }],
});

test("a certificate lets a browser in, and runs are watched over encrypted connections", async () => {
    assert.match(server.url, /^https:/);
    const page = await browser.open(server.url, "#/new", undefined, holding("client"));
    await page.getByText("alice (submit)").waitFor();
    await page.getByLabel("Scenario", { exact: true }).fill(endless());
    await page.getByLabel("Name", { exact: true }).fill("encrypted");
    await page.getByTestId("verdict").getByText("Nothing is wrong with it.").waitFor();
    await page.getByRole("button", { name: "Submit" }).click();
    await badge(page, "running");
    await points(page, "Accepted load", 2);
    await page.getByRole("button", { name: "Cancel" }).click();
    await badge(page, "cancelled");
    await page.goto(`${server.url}/#/new`);
    await page.getByLabel("Scenario", { exact: true }).fill(scenario(400));
    await page.getByTestId("verdict").getByText("Nothing is wrong with it.").waitFor();
    await page.getByRole("button", { name: "Submit" }).click();
    await badge(page, "succeeded");
    await page.getByLabel("Report").getByText("72 nodes, seed 1").waitFor();
    await page.context().close();
});

test("without a certificate, or with one that others have signed, there is no page", async () => {
    // A connection that is refused is an error, or what the browser's driver shows in its place.
    const parts = (options) => browser.open(server.url, "#/", undefined, options).then((page) => page.getByTestId("presence").count(), () => 0);
    assert.equal(await parts(holding("client")), 1);
    assert.equal(await parts({ ignoreHTTPSErrors: true }), 0);
    assert.equal(await parts(holding("stranger")), 0);
});
