// Creates runs as quickly as the server takes them, without a process for each.

import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { RunService } from "../src/generated/tailback/v1/run_service_pb";

const AT_ONCE = 16;

export async function createMany(url: string, number: number, document: string): Promise<void> {
    const runs = createClient(RunService, createGrpcWebTransport({ baseUrl: url }));
    let next = 0;
    const worker = async () => {
        for (let index = next++; index < number; index = next++) {
            const runId = `run-${String(index + 1).padStart(5, "0")}`;
            await runs.createRun({ runId, scenario: { name: "many.toml", document } });
        }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
