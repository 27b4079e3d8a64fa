// What may stand at a place of a scenario, by the JSON Schema of scenarios. Knows as much of TOML as that takes: headers of
// tables, keys, and values on one line.

export interface Schema {
    $ref?: string;
    $defs?: Record<string, Schema>;
    properties?: Record<string, Schema>;
    additionalProperties?: Schema | boolean;
    items?: Schema;
    anyOf?: Schema[];
    oneOf?: Schema[];
    allOf?: Schema[];
    enum?: unknown[];
    const?: unknown;
    type?: string | string[];
    default?: unknown;
    description?: string;
}

/** Something that may stand here. */
export interface Proposal {
    /** What is put in. */
    text: string;
    /** What it is, in few words. */
    detail: string;
}

export interface Proposals {
    /** Where that begins which is replaced; it ends at the cursor. */
    from: number;
    list: Proposal[];
}

/** All that a schema may be, with references followed. */
function variants(schema: Schema, root: Schema): Schema[] {
    if (schema.$ref) {
        const name = schema.$ref.replace("#/$defs/", "");
        const target = root.$defs?.[name];
        return target ? variants(target, root) : [];
    }
    const nested = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
    const inner = nested.flatMap((variant) => variants(variant, root));
    // An element of a list of tables is written as a table.
    const items = schema.items ? variants(schema.items, root) : [];
    return [schema, ...inner, ...items];
}

/** What is known under a key of tables. */
function under(schemas: Schema[], key: string, root: Schema): Schema[] {
    return schemas.flatMap((schema) => {
        const more = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
        const found = schema.properties?.[key] ?? more;
        return found ? variants(found, root) : [];
    });
}

function at(path: string[], root: Schema): Schema[] {
    return path.reduce((schemas, key) => under(schemas, key, root), variants(root, root));
}

function keys(schemas: Schema[], root: Schema): Proposal[] {
    const found = new Map<string, Proposal>();
    for (const [key, schema] of schemas.flatMap((one) => Object.entries(one.properties ?? {}))) {
        if (!found.has(key)) found.set(key, { text: key, detail: detail(schema, root) });
    }
    return [...found.values()];
}

function detail(schema: Schema, root: Schema): string {
    const described = variants(schema, root).find((variant) => variant.description)?.description ?? "";
    return schema.default === undefined ? described : `${described} (default ${JSON.stringify(schema.default)})`;
}

function values(schemas: Schema[]): Proposal[] {
    const found = new Map<string, Proposal>();
    const put = (value: unknown, text: string) => {
        if (typeof value === "object") return;
        found.set(String(value), { text: typeof value === "string" ? `"${value}"` : String(value), detail: text });
    };
    for (const schema of schemas) {
        for (const value of schema.enum ?? []) put(value, schema.description ?? "");
        if (schema.const !== undefined) put(schema.const, schema.description ?? "");
        if (schema.type === "boolean") for (const value of [true, false]) put(value, "");
        if (schema.default !== undefined) put(schema.default, "default");
    }
    return [...found.values()];
}

/** The table that a line stands in, by the headers above it. */
export function tableAt(document: string, offset: number): string[] {
    const lines = document.slice(0, offset).split("\n").slice(0, -1);
    for (const line of lines.reverse()) {
        const header = /^\s*\[\[?\s*([^\]#]+?)\s*\]/.exec(line)?.[1];
        if (header !== undefined) return parts(header);
    }
    return [];
}

function parts(path: string): string[] {
    return path.split(".").map((part) => part.trim().replace(/^"(.*)"$/, "$1"));
}

const byFit = (typed: string) => (a: Proposal, b: Proposal) => {
    const [first, second] = [a, b].map(({ text }) => Number(!text.replace(/^"/, "").startsWith(typed)));
    return (first ?? 0) - (second ?? 0) || a.text.localeCompare(b.text);
};

function fitting(list: Proposal[], typed: string, offset: number): Proposals {
    const bare = typed.replace(/^"/, "").toLowerCase();
    const fit = list.filter(({ text }) => text.toLowerCase().includes(bare) && text !== typed);
    return { from: offset - typed.length, list: fit.sort(byFit(bare)) };
}

/** What may stand where the cursor is. */
export function propose(document: string, offset: number, root: Schema): Proposals {
    const line = document.slice(document.lastIndexOf("\n", offset - 1) + 1, offset);
    const none = { from: offset, list: [] };
    if (/^[^"]*#/.test(line)) return none;
    const header = /^\s*\[\[?\s*([\w.\-"]*)$/.exec(line)?.[1];
    if (header !== undefined) {
        const path = parts(header);
        const typed = path.pop() ?? "";
        const isTable = (schema: Schema) => variants(schema, root).some((variant) => variant.properties || typeof variant.additionalProperties === "object");
        const tables = at(path, root).flatMap((schema) => Object.entries(schema.properties ?? {})).filter(([, schema]) => isTable(schema));
        const names = new Set(tables.map(([name]) => name));
        return fitting(keys(at(path, root), root).filter(({ text }) => names.has(text)), typed, offset);
    }
    const table = tableAt(document, offset);
    const value = /^\s*([\w.\-"]+)\s*=\s*("?[\w\-]*)$/.exec(line);
    if (value) return fitting(values(at([...table, ...parts(value[1] ?? "")], root)), value[2] ?? "", offset);
    const key = /^\s*([\w.\-]*)$/.exec(line)?.[1];
    if (key === undefined) return none;
    const path = parts(key);
    const typed = path.pop() ?? "";
    return fitting(keys(at([...table, ...path], root), root), typed, offset);
}
