// Numbers, times and states as the page writes them.

import { type Duration, type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

import { type Run, RunState } from "./generated/tailback/v1/run_pb";

const STATES: Record<RunState, string> = {
    [RunState.UNSPECIFIED]: "unknown",
    [RunState.PENDING]: "pending",
    [RunState.RUNNING]: "running",
    [RunState.CANCELLING]: "cancelling",
    [RunState.SUCCEEDED]: "succeeded",
    [RunState.FAILED]: "failed",
    [RunState.CANCELLED]: "cancelled",
};

export function stateWord(state: RunState): string {
    return STATES[state] ?? "unknown";
}

/** Whether a run has reached no last state yet. */
export function isActive(run: Run): boolean {
    return run.state === RunState.PENDING || run.state === RunState.RUNNING || run.state === RunState.CANCELLING;
}

export function isSweep(run: Run): boolean {
    return run.sweep !== undefined || (run.progress?.children ?? 0) > 0;
}

/** From 0 to 1. */
export function progressOf(run: Run): number {
    if (run.state === RunState.SUCCEEDED) return 1;
    const progress = run.progress;
    if (!progress) return 0;
    if (progress.children > 0) return progress.childrenEnded / progress.children;
    return progress.cycles > 0n ? Math.min(1, Number(progress.cycle) / Number(progress.cycles)) : 0;
}

/** Four digits at most, as tables need them. */
export function figure(value: number | undefined, digits = 4): string {
    if (value === undefined || Number.isNaN(value)) return "–";
    if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toExponential(2);
    if (Math.abs(value) >= 1000) return count(Math.round(value));
    return String(Number(value.toPrecision(digits)));
}

/** A whole number, with its thousands apart. */
export function count(value: number | bigint): string {
    return value.toLocaleString("en");
}

export function bytes(value: number | bigint): string {
    let left = Number(value);
    for (const unit of ["B", "KiB", "MiB", "GiB"]) {
        if (left < 1024) return `${unit === "B" ? left : left.toPrecision(3)} ${unit}`;
        left /= 1024;
    }
    return `${left.toPrecision(3)} TiB`;
}

export function seconds(value: number): string {
    if (value < 1) return `${Math.round(value * 1000)} ms`;
    if (value < 60) return `${value.toFixed(value < 10 ? 1 : 0)} s`;
    const minutes = Math.floor(value / 60);
    if (minutes < 60) return `${minutes} min ${Math.floor(value % 60)} s`;
    const hours = Math.floor(minutes / 60);
    return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function duration(value: Duration | undefined): number {
    return value ? Number(value.seconds) + value.nanos / 1e9 : 0;
}

/** A time of this day, or a day. */
export function time(value: Timestamp | undefined): string {
    if (!value) return "–";
    const date = timestampDate(value);
    const pad = (number: number) => String(number).padStart(2, "0");
    const clock = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
    const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
    return date.toDateString() === new Date().toDateString() ? clock : `${day} ${clock}`;
}
