// What is measured while a run goes on, as lines over link cycles.

import { Chart, type Line } from "./chart";
import type { MetricSample } from "./generated/tailback/v1/run_pb";

/** More than a screen has. */
const SAMPLES_MAX = 4000;

export type Measure = "acceptedLoad" | "latencyMean" | "latencyP99" | "packetsInFlight" | "cyclesPerSecond";

export class Samples {
    private kept: MetricSample[] = [];

    /** Samples come again if the connection was lost, or a run went on from a checkpoint: then the later ones count. */
    put(sample: MetricSample): void {
        let last = this.kept.at(-1);
        while (last && last.cycle >= sample.cycle) {
            this.kept.pop();
            last = this.kept.at(-1);
        }
        this.kept.push(sample);
        if (this.kept.length > SAMPLES_MAX) this.kept = this.kept.filter((_, index) => index % 2 === 1);
    }

    clear(): void {
        this.kept = [];
    }

    get last(): MetricSample | undefined {
        return this.kept.at(-1);
    }

    get length(): number {
        return this.kept.length;
    }

    line(measure: Measure, name: string, colour: number, dashed = false): Line {
        const x = this.kept.map((sample) => Number(sample.cycle));
        const y = this.kept.map((sample) => {
            const value = sample[measure];
            return value === undefined ? null : Number(value);
        });
        return { name, x, y, colour, dashed };
    }
}

/** The charts of a run that goes on, or of several. */
export function sampleCharts(): Record<"load" | "latency" | "packets" | "speed", Chart> {
    const x = "link cycle";
    const together = "samples";
    return {
        load: new Chart({ title: "Accepted load", x, y: "flits per node and cycle", together }),
        latency: new Chart({ title: "Latency of messages", x, y: "link cycles", together }),
        packets: new Chart({ title: "Packets in the network", x, y: "packets", together }),
        speed: new Chart({ title: "Speed", x, y: "link cycles per second", together }),
    };
}
