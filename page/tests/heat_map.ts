// The heat map on its own: 2,000 links at 1,000 times, which no test has the time to simulate.

import { Table } from "../src/csv";
import { HeatMap } from "../src/heat_map";

const [LINKS, TIMES, PIECE] = [2000, 1000, 1 << 20];

function lines(time: number): string {
    const rows = Array.from({ length: LINKS }, (_, link) => `${(time + 1) * 100},global,${link},3,,${(link + 1) % LINKS},${((link * 7 + time) % 1000) / 1000},${time % 5},0,${link % 9},`);
    return `${rows.join("\n")}\n`;
}

/** Fills the page; gives how many rows were read, and what reading and indexing took. */
function begin() {
    const table = new Table(["kind"]);
    const header = "cycle,kind,router,port,node,to_router,utilisation,blocked_heads,stalled_heads,occupied_vc0,occupied_vc1\n";
    let text = header;
    const encoder = new TextEncoder();
    const started = performance.now();
    for (let time = 0; time < TIMES; time++) {
        text += lines(time);
        if (text.length < PIECE && time < TIMES - 1) continue;
        table.push(encoder.encode(text));
        text = "";
    }
    const map = new HeatMap(table);
    document.body.append(map.element);
    Object.assign(window, { map });
    return { rows: table.rows, ms: performance.now() - started };
}

Object.assign(window, { begin });
