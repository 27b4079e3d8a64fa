// Places of the page: `#/run/NAME`, `#/compare/A/B`. Names are in them, tokens never.

export interface Place {
    kind: string;
    names: string[];
}

export function here(): Place {
    const [kind = "", ...names] = location.hash.replace(/^#\/?/, "").split("/").filter((part) => part !== "");
    return { kind, names: names.map(decoded) };
}

/** A link that somebody has cut off is no reason to show nothing. */
function decoded(name: string): string {
    try {
        return decodeURIComponent(name);
    } catch {
        return name;
    }
}

export function go(kind: string, ...names: string[]): void {
    location.hash = `#/${[kind, ...names.map(encodeURIComponent)].join("/")}`;
}
