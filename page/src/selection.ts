// The runs that are to be compared, chosen in the list and on the pages of runs.

const KEY = "tailback.compared";
/** More than that nobody tells apart. */
export const COMPARED_MAX = 8;

export function compared(): string[] {
    return (sessionStorage.getItem(KEY) ?? "").split(",").filter((name) => name !== "");
}

export function setCompared(names: string[]): void {
    sessionStorage.setItem(KEY, [...new Set(names)].slice(0, COMPARED_MAX).join(","));
}

export function toggleCompared(name: string): void {
    const names = compared();
    setCompared(names.includes(name) ? names.filter((other) => other !== name) : [...names, name]);
}
