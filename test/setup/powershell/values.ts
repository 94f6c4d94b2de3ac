/** The part of .NET's Hashtable that the setup commands use. */
export class Hash {
  readonly members = new Map<string, unknown>();
  /** Whether keys ignore case, as in a table that a literal `@{}` creates. */
  readonly isLiteral: boolean;
  constructor(isLiteral: boolean) {
    this.isLiteral = isLiteral;
  }
  key(name: unknown): string {
    if (typeof name !== "string") throw new Error("A key of a hashtable that is no text.");
    return this.isLiteral ? name.toLowerCase() : name;
  }
}

export class List {
  readonly items: unknown[] = [];
}

export class Char {
  readonly text: string;
  constructor(code: number) {
    this.text = String.fromCharCode(code);
  }
}

export class Pattern {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** An exception from `throw` or a .NET method. */
export class Thrown extends Error {
  readonly inner: Native | null;
  constructor(message: string, inner: Native | null = null) {
    super(message);
    this.inner = inner;
  }
}

/** A .NET object with the members that a setup command uses. */
export class Native {
  readonly members: Record<string, unknown>;
  readonly methods: Record<string, (...parameters: unknown[]) => unknown>;
  kind = "";
  constructor(members: Native["members"], methods: Native["methods"] = {}) {
    this.members = members;
    this.methods = methods;
  }
}

/** Translates .NET's anchors. The editors use no other syntax that differs in JavaScript. */
export function toRegExp(source: string, flags: string): RegExp {
  const ended = source.replace(/\\z$/, "(?![^])").replace(/\$$/, "(?=\\n?(?![^]))");
  return new RegExp(ended.replace(/^\\G/, ""), flags);
}

export function toText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (value instanceof Char) return value.text;
  throw new Error("A text of something that has none.");
}

export function toNumber(value: unknown): number {
  if (typeof value === "number") return value;
  throw new Error(`A number is wanted, and this is ${String(value)}.`);
}

export function toStrings(value: unknown): string[] {
  if (!Array.isArray(value)) throw new Error("A list of texts is wanted.");
  return value.map(toText);
}

export function isTrue(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  if (value === null || value === undefined) return false;
  throw new Error("A condition that is neither true nor false.");
}

/** Returns a value's items, because PowerShell outputs a list item by item. */
export function enumerate(value: unknown): unknown[] {
  if (value === undefined) return [];
  if (value instanceof List) return value.items;
  return Array.isArray(value) ? (value as unknown[]) : [value];
}
