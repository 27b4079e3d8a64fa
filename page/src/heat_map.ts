// Links over time: a row of the picture for each link, a column for each time, and a slider that tells of one time what there
// is. The picture is made once for each measure; a frame only lays it onto the screen.

import type { Table } from "./csv";
import { choice, fill, h, say } from "./dom";
import { count, figure } from "./format";

const HEIGHT = 420;
const BUSIEST = 8;
/** From nothing to the most: red, green, blue. */
const STOPS = [[16, 32, 60], [32, 92, 140], [52, 160, 140], [190, 205, 90], [252, 232, 160]] as const;
const SHADES = Uint32Array.from({ length: 256 }, (_, shade) => {
    const at = (shade / 255) * (STOPS.length - 1);
    const [low, high] = [STOPS[Math.floor(at)] ?? STOPS[0], STOPS[Math.min(STOPS.length - 1, Math.floor(at) + 1)] ?? STOPS[0]];
    const part = at % 1;
    const [red, green, blue] = [0, 1, 2].map((index) => Math.round((low[index] ?? 0) * (1 - part) + (high[index] ?? 0) * part));
    return ((255 << 24) | ((blue ?? 0) << 16) | ((green ?? 0) << 8) | (red ?? 0)) >>> 0;
});

export class HeatMap {
    readonly element: HTMLElement;
    /** Frames that were drawn. */
    frames = 0;
    private readonly canvas = h("canvas", { class: "heat", role: "img" });
    private readonly slider = h("input", { type: "range", min: 0, "aria-label": "Time", oninput: () => this.show(this.slider.valueAsNumber) });
    private readonly moment = h("span", { class: "quiet" });
    private readonly pointed = h("p", { class: "quiet", "aria-hidden": "true" });
    private readonly busiest = h("ol", { class: "busiest" });
    private readonly play = h("button", { onclick: () => this.run() }, "Play");
    private readonly times: number[] = [];
    private readonly links: string[] = [];
    /** The row of the table at a time of a link, or -1. */
    private rows = new Int32Array(0);
    private picture: HTMLCanvasElement | undefined;
    private measure: string;
    private most = 1;
    private values: Float32Array | Float64Array = new Float32Array(0);
    private time = 0;
    private frame = 0;
    private isPlaying = false;
    private readonly observer = new ResizeObserver(() => this.later());

    /** `told` is told of the time that is shown. */
    constructor(
        private readonly table: Table,
        private readonly told: (cycle: number) => void = () => undefined,
    ) {
        this.index();
        const measures = table.columnNames.filter((name) => /^(utilisation|utilisation_max|blocked_heads|stalled_heads|occupied_vc\d+)$/.test(name));
        this.measure = measures[0] ?? "";
        const choose = choice("Measure", measures.map((name) => [name, name.replaceAll("_", " ")]), this.measure, (name) => this.paint(name));
        this.slider.max = String(this.times.length - 1);
        const size = `${count(this.links.length)} links, ${count(this.times.length)} times`;
        this.element = h("div", { class: "heat-map" }, h("div", { class: "bar" }, choose, this.play, this.slider, this.moment), this.canvas, this.pointed, h("h3", {}, "Most at this time"), this.busiest);
        this.canvas.setAttribute("aria-label", `Heat map: ${size}`);
        this.canvas.addEventListener("pointermove", (event) => this.point(event));
        this.canvas.addEventListener("pointerdown", (event) => this.show(this.cell(event).time));
        say(this.pointed, size);
        this.observer.observe(this.canvas);
        this.paint(this.measure);
        // As the run has ended: it begins with an empty network.
        this.show(this.times.length - 1);
    }

    stop(): void {
        this.isPlaying = false;
        cancelAnimationFrame(this.frame);
        this.observer.disconnect();
    }

    /** Links are known by router and port, or by router and kind; times and links are in the order of the file. */
    private index(): void {
        const [cycles, kinds, routers, ports, nodes, to] = ["cycle", "kind", "router", "port", "node", "to_router"].map((name) => this.table.column(name));
        if (!cycles || !kinds || !routers || !ports || !nodes || !to) return;
        const places = new Map<number, number>();
        const timeOf = new Map<number, number>();
        const found = new Int32Array(this.table.rows * 2);
        for (let row = 0; row < this.table.rows; row++) {
            const cycle = cycles[row] ?? 0;
            // Where all links of a kind of a router have a row together, there is no port.
            const together = Number.isNaN(ports[row]);
            const kind = kinds[row] ?? 0;
            const key = (routers[row] ?? 0) * 65536 + (together ? 65535 - kind : (ports[row] ?? 0));
            let time = timeOf.get(cycle);
            if (time === undefined) timeOf.set(cycle, (time = this.times.push(cycle) - 1));
            let link = places.get(key);
            if (link === undefined) {
                const end = Number.isNaN(to[row]) ? `node ${nodes[row]}` : `router ${to[row]}`;
                const which = together ? `router ${routers[row]}, all` : `router ${routers[row]} port ${ports[row]} to ${end}`;
                places.set(key, (link = this.links.push(`${this.table.words[kind]}, ${which}`) - 1));
            }
            found[row * 2] = time;
            found[row * 2 + 1] = link;
        }
        this.rows = new Int32Array(this.times.length * this.links.length).fill(-1);
        for (let row = 0; row < this.table.rows; row++) this.rows[(found[row * 2 + 1] ?? 0) * this.times.length + (found[row * 2] ?? 0)] = row;
    }

    private value(link: number, time: number): number {
        const row = this.rows[link * this.times.length + time] ?? -1;
        return row < 0 ? Number.NaN : (this.values[row] ?? Number.NaN);
    }

    /** Makes the picture of a measure. */
    private paint(measure: string): void {
        this.measure = measure;
        this.values = this.table.column(measure);
        this.most = 0;
        for (const value of this.values) if (value > this.most) this.most = value;
        this.most ||= 1;
        const picture = h("canvas", { width: this.times.length, height: this.links.length });
        const context = picture.getContext("2d");
        if (!context || this.rows.length === 0) return;
        const pixels = new Uint32Array(this.rows.length);
        for (let cell = 0; cell < pixels.length; cell++) {
            const row = this.rows[cell] ?? -1;
            const value = row < 0 ? Number.NaN : (this.values[row] ?? Number.NaN);
            pixels[cell] = Number.isNaN(value) ? 0 : (SHADES[Math.round((value / this.most) * 255)] ?? 0);
        }
        context.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), this.times.length, this.links.length), 0, 0);
        this.picture = picture;
        this.show(this.time);
    }

    /** Shows a time. */
    show(time: number): void {
        this.time = Math.max(0, Math.min(this.times.length - 1, time));
        this.slider.value = String(this.time);
        this.later();
    }

    private later(): void {
        cancelAnimationFrame(this.frame);
        this.frame = requestAnimationFrame(() => this.draw());
    }

    private draw(): void {
        const [width, context] = [this.canvas.clientWidth, this.canvas.getContext("2d")];
        if (!context || !this.picture || width === 0) return;
        if (this.canvas.width !== width || this.canvas.height !== HEIGHT) [this.canvas.width, this.canvas.height] = [width, HEIGHT];
        context.imageSmoothingEnabled = this.links.length > HEIGHT;
        context.clearRect(0, 0, width, HEIGHT);
        context.drawImage(this.picture, 0, 0, width, HEIGHT);
        const step = width / this.times.length;
        context.strokeStyle = "#ff5a3c";
        context.lineWidth = 1.5;
        context.strokeRect(this.time * step, 0, Math.max(1, step), HEIGHT);
        this.frames += 1;
        this.tell();
        if (this.isPlaying) this.show(this.time + 1);
        if (this.time >= this.times.length - 1) this.pause();
    }

    private tell(): void {
        const cycle = this.times[this.time] ?? 0;
        say(this.moment, `link cycle ${count(cycle)}, from 0 to ${figure(this.most)}`);
        const most = new Array<{ link: number; value: number }>();
        for (let link = 0; link < this.links.length; link++) {
            const value = this.value(link, this.time);
            if (!(value > 0) || (most.length === BUSIEST && value <= (most.at(-1)?.value ?? 0))) continue;
            const place = most.findIndex((other) => other.value < value);
            most.splice(place < 0 ? most.length : place, 0, { link, value });
            most.length = Math.min(most.length, BUSIEST);
        }
        fill(this.busiest, most.map(({ link, value }) => h("li", {}, `${this.links[link]}: ${figure(value)}`)));
        this.told(cycle);
    }

    private run(): void {
        if (this.isPlaying) return this.pause();
        this.isPlaying = true;
        say(this.play, "Pause");
        this.show(this.time >= this.times.length - 1 ? 0 : this.time);
    }

    private pause(): void {
        this.isPlaying = false;
        say(this.play, "Play");
    }

    private cell(event: PointerEvent): { time: number; link: number } {
        const box = this.canvas.getBoundingClientRect();
        const part = (at: number, from: number, length: number, number: number) => Math.max(0, Math.min(number - 1, Math.floor(((at - from) / length) * number)));
        return { time: part(event.clientX, box.left, box.width, this.times.length), link: part(event.clientY, box.top, box.height, this.links.length) };
    }

    private point(event: PointerEvent): void {
        const { time, link } = this.cell(event);
        say(this.pointed, `${this.links[link]}, link cycle ${count(this.times[time] ?? 0)}: ${this.measure.replaceAll("_", " ")} ${figure(this.value(link, time))}`);
    }
}
