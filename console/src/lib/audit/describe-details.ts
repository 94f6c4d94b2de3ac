import { formatExactDollars } from "#lib/format/numbers.ts";
import { formatExactTime } from "#lib/format/relative-time.ts";
import { memberWords, valueWords } from "./member-words.ts";

/** Returns one line for each change, such as "60 → 120", and for each non-empty value. */
export function describeDetails(details: Members, name = ""): DetailLine[] {
  if ("from" in details && "to" in details) return describeChange(name, details["from"], details["to"]);
  const members = Object.entries(details).toSorted(([a], [b]) => Number(a === "id") - Number(b === "id"));
  return members.flatMap(([member, value]) => {
    const path = join(name, member);
    return isMembers(value) && !isList(value)
      ? describeDetails(value, path)
      : isSet(value)
        ? [line(path, show(value, path))]
        : [];
  });
}

/** `name` is empty if the entry is about a single value. */
export type DetailLine = { name: string; text: string };
type Members = Record<string, unknown>;

function describeChange(name: string, from: unknown, to: unknown): DetailLine[] {
  if (!isMembers(from ?? to) || !isMembers(to ?? from)) {
    return [line(name, `${show(from, name)} → ${show(to, name)}`)];
  }
  const [before, after] = [from, to].map((value) => (isMembers(value) ? value : {}));
  const members = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...members].flatMap((member) => {
    const [was, is] = [before?.[member], after?.[member]];
    const isSame = JSON.stringify(was ?? null) === JSON.stringify(is ?? null);
    return isSame ? [] : describeChange(join(name, member), was, is);
  });
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a list as audit entries store it: its length and its first items. */
function isList(value: Members): value is { count: number; items: unknown[] } {
  return typeof value["count"] === "number" && Array.isArray(value["items"]);
}

function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isMembers(value) && isList(value)) return value.count > 0;
  return value !== null && value !== undefined && value !== "";
}

/** @param path such as `chargeFactor` or `limits.budgetsUsd.day` */
function show(value: unknown, path: string): string {
  if (value === null || value === undefined || value === "") return "none";
  const words = valueWords[path]?.[String(value)];
  if (words !== undefined) return words;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number" && path.includes("budgetsUsd.")) return formatExactDollars(value);
  if (path === "expiresAt") return formatExactTime(Date.parse(String(value)));
  if (Array.isArray(value))
    return value.length === 0 ? "none" : value.map((item) => show(item, path)).join(", ");
  if (!isMembers(value)) return String(value);
  if (!isList(value)) return JSON.stringify(value);
  const rest = value.count - value.items.length;
  return show(value.items, path) + (rest > 0 ? ` and ${rest} more` : "");
}

function line(path: string, text: string): DetailLine {
  return { name: memberWords[path.replace(/^limits\./, "")] ?? path, text };
}

function join(name: string, member: string): string {
  return name === "" ? member : `${name}.${member}`;
}
