// The server: its calls, the token that is shown with them, and whether it is there.

import { type Client, Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { ResultService } from "./generated/tailback/v1/result_service_pb";
import { RunService } from "./generated/tailback/v1/run_service_pb";
import { ScenarioService } from "./generated/tailback/v1/scenario_service_pb";
import { SystemService } from "./generated/tailback/v1/system_service_pb";

/** Where the token is kept: until the tab is closed, for this server alone, and in no address. */
const TOKEN = "tailback.token";
/** How long a call may take that is no stream. */
export const CALL_MS = 30_000;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];

/** Whether the server answers. */
export type Presence = "connecting" | "connected" | "lost" | "refused";

/** What shows the token with a call. */
export function authorization(): Record<string, string> {
    const token = sessionStorage.getItem(TOKEN);
    return token ? { authorization: `Bearer ${token}` } : {};
}

const showToken: Interceptor = (next) => (request) => {
    for (const [name, value] of Object.entries(authorization())) request.header.set(name, value);
    return next(request);
};

const transport = createGrpcWebTransport({ baseUrl: location.origin, interceptors: [showToken] });

export const runs: Client<typeof RunService> = createClient(RunService, transport);
export const results: Client<typeof ResultService> = createClient(ResultService, transport);
export const scenarios: Client<typeof ScenarioService> = createClient(ScenarioService, transport);
export const system: Client<typeof SystemService> = createClient(SystemService, transport);

export function setToken(token: string): void {
    if (token) sessionStorage.setItem(TOKEN, token);
    else sessionStorage.removeItem(TOKEN);
}

export function hasToken(): boolean {
    return sessionStorage.getItem(TOKEN) !== null;
}

let presence: Presence = "connecting";
const told = new Set<(presence: Presence) => void>();

/** Tells whether the server answers, now and whenever that changes; gives what ends it. */
export function onPresence(tell: (presence: Presence) => void): () => void {
    told.add(tell);
    tell(presence);
    return () => told.delete(tell);
}

export function setPresence(now: Presence): void {
    if (now === presence) return;
    presence = now;
    for (const tell of told) tell(now);
}

/** Whether an error says that the server was not reached, or stops: trying again may help. */
export function isTransient(error: unknown): boolean {
    switch (ConnectError.from(error).code) {
        case Code.InvalidArgument:
        case Code.NotFound:
        case Code.AlreadyExists:
        case Code.PermissionDenied:
        case Code.ResourceExhausted:
        case Code.FailedPrecondition:
        case Code.OutOfRange:
        case Code.Unimplemented:
        case Code.Unauthenticated:
        case Code.DataLoss:
        case Code.Internal:
            return false;
        default:
            return true;
    }
}

/** What an error says, for people. */
export function words(error: unknown): string {
    if (isTransient(error)) return "the server does not answer";
    return ConnectError.from(error).rawMessage;
}

/** Notes what a call has told about the server. */
export function note(error?: unknown): void {
    if (error === undefined) setPresence("connected");
    else if (ConnectError.from(error).code === Code.Unauthenticated) setPresence("refused");
    else if (ConnectError.from(error).code === Code.Canceled) return;
    else setPresence(isTransient(error) ? "lost" : "connected");
}

/** Makes a call, and notes how it went. */
export async function call<T>(made: Promise<T>): Promise<T> {
    try {
        const answer = await made;
        note();
        return answer;
    } catch (error) {
        note(error);
        throw error;
    }
}

/** How long to wait before the next attempt: longer each time, and not the same for all who wait. */
export class Backoff {
    private failures = 0;

    succeeded(): void {
        this.failures = 0;
    }

    async wait(signal: AbortSignal): Promise<void> {
        const length = RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)] ?? 0;
        await pause(length * (0.75 + Math.random() / 2), signal);
    }
}

/** Waits; ends early, and well, if the signal says so, or the tab is looked at again. */
export function pause(length: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
        const end = () => {
            clearTimeout(timer);
            signal.removeEventListener("abort", end);
            resolve();
        };
        const timer = setTimeout(end, length);
        signal.addEventListener("abort", end);
        if (signal.aborted) end();
    });
}

/** Does something until it has gone well once. */
export async function once(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const backoff = new Backoff();
    while (!signal.aborted) {
        try {
            return await work();
        } catch (error) {
            if (signal.aborted) return;
            note(error);
            await backoff.wait(signal);
        }
    }
}

/** Does something again and again until the signal says so: `work` gives the pause before the next time. */
export async function repeat(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
    const backoff = new Backoff();
    while (!signal.aborted) {
        try {
            const next = await work();
            backoff.succeeded();
            await pause(next, signal);
        } catch (error) {
            if (signal.aborted) return;
            note(error);
            await backoff.wait(signal);
        }
    }
}
