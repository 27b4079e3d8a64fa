// The series of runs that have kept one: a column over link cycles, with a line for each flow.

import type { Line } from "./chart";
import type { Column, QuerySeriesResponse } from "./generated/tailback/v1/result_service_pb";

/** The numbers of a column, with null where it says nothing. */
export function numbers(column: Column | undefined): (number | null)[] {
    const values = column?.values;
    if (!column || !values || (values.case !== "integers" && values.case !== "numbers")) return [];
    const list: (number | null)[] = values.case === "integers" ? values.value.values.map(Number) : [...values.value.values];
    for (const row of column.empty) list[row] = null;
    return list;
}

export class Series {
    /** The columns that have numbers, in their order. */
    readonly names: string[];
    private readonly cycles: (number | null)[];
    private readonly flows: string[];

    constructor(private readonly table: QuerySeriesResponse) {
        const named = (name: string) => table.columns.find((column) => column.name === name);
        this.cycles = numbers(named("from_cycle") ?? named("cycle") ?? table.columns[0]);
        const flows = table.columns.find((column) => column.values.case === "texts");
        this.flows = flows?.values.case === "texts" ? flows.values.value.values : [];
        const hasNumbers = (name: string) => numbers(named(name)).some((value) => value !== null);
        this.names = table.columns.map((column) => column.name).filter((name) => hasNumbers(name) && !/cycle$/.test(name));
    }

    /** The column that is looked at first. */
    static first(names: string[]): string {
        return names.find((name) => name.includes("latency")) ?? names[0] ?? "";
    }

    /** A line for each flow. */
    lines(name: string): Line[] {
        const values = numbers(this.table.columns.find((column) => column.name === name));
        const lines = new Map<string, Line>();
        values.forEach((value, row) => {
            const flow = this.flows[row] ?? name;
            const line = lines.get(flow) ?? { name: flow || name, x: [], y: [] };
            lines.set(flow, line);
            line.x.push(this.cycles[row] ?? row);
            line.y.push(value);
        });
        return [...lines.values()];
    }
}
