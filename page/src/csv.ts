// Tables as CSV, read as they come: millions of rows, of which numbers are kept and no text.

const [COMMA, NEWLINE, DOT, MINUS, E] = [44, 10, 46, 45, 101];

/** The columns of a table, by name. Numbers are NaN where there is none; texts are places in `words`. */
export class Table {
    rows = 0;
    readonly words: string[] = [];
    private names: string[] = [];
    private columns: (Float32Array | Float64Array)[] = [];
    private isText: boolean[] = [];
    private readonly codes = new Map<string, number>();
    private rest = new Uint8Array(0);
    private readonly decoder = new TextDecoder();

    /** Columns in `texts` hold words. */
    constructor(private readonly texts: readonly string[]) {}

    get columnNames(): readonly string[] {
        return this.names;
    }

    column(name: string): Float64Array | Float32Array {
        const index = this.names.indexOf(name);
        return (this.columns[index] ?? new Float32Array(0)).subarray(0, this.rows);
    }

    /** Takes the next piece of the file. */
    push(piece: Uint8Array): void {
        let bytes = piece;
        if (this.rest.length > 0) {
            bytes = new Uint8Array(this.rest.length + piece.length);
            bytes.set(this.rest);
            bytes.set(piece, this.rest.length);
        }
        let start = 0;
        if (this.names.length === 0) {
            const end = bytes.indexOf(NEWLINE);
            if (end < 0) {
                this.rest = bytes.slice();
                return;
            }
            this.begin(this.decoder.decode(bytes.subarray(0, end)).trim().split(","));
            start = end + 1;
        }
        const last = bytes.lastIndexOf(NEWLINE);
        if (last >= start) this.parse(bytes, start, last + 1);
        this.rest = bytes.slice(Math.max(last + 1, start));
    }

    private begin(names: string[]): void {
        this.names = names;
        this.isText = names.map((name) => this.texts.includes(name));
        // Cycles do not fit into the shorter numbers.
        this.columns = names.map((name) => (name === "cycle" ? new Float64Array(1024) : new Float32Array(1024)));
    }

    private grow(): void {
        this.columns = this.columns.map((column) => {
            const larger = column instanceof Float64Array ? new Float64Array(column.length * 2) : new Float32Array(column.length * 2);
            larger.set(column);
            return larger;
        });
    }

    /** Whole lines. */
    private parse(bytes: Uint8Array, from: number, until: number): void {
        let [field, start] = [0, from];
        for (let at = from; at < until; at++) {
            const byte = bytes[at];
            if (byte !== COMMA && byte !== NEWLINE) continue;
            const column = this.columns[field];
            if (column) {
                if (this.rows >= column.length) this.grow();
                const value = this.isText[field] ? this.word(bytes, start, at) : number(bytes, start, at);
                (this.columns[field] as Float32Array)[this.rows] = value;
            }
            start = at + 1;
            field += 1;
            if (byte === NEWLINE) {
                this.rows += 1;
                field = 0;
            }
        }
    }

    private word(bytes: Uint8Array, from: number, until: number): number {
        const text = this.decoder.decode(bytes.subarray(from, until));
        let code = this.codes.get(text);
        if (code === undefined) {
            code = this.words.push(text) - 1;
            this.codes.set(text, code);
        }
        return code;
    }
}

/** A number in decimal digits, perhaps with a power of ten. */
function number(bytes: Uint8Array, from: number, until: number): number {
    if (from === until) return Number.NaN;
    let [value, scale, sign, isBehind] = [0, 1, 1, false];
    for (let at = from; at < until; at++) {
        const byte = bytes[at] ?? 0;
        if (byte >= 48 && byte <= 57) {
            value = value * 10 + (byte - 48);
            if (isBehind) scale *= 10;
        } else if (byte === DOT) isBehind = true;
        else if (byte === MINUS && at === from) sign = -1;
        else if (byte === E) return Number(String.fromCharCode(...bytes.subarray(from, until)));
        else return Number.NaN;
    }
    return (sign * value) / scale;
}
