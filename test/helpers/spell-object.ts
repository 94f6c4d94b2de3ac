import fc from "fast-check";
import { anyCharacter } from "./any-character.ts";
import type { SeededRandom } from "./seeded-random.ts";

/**
 * Returns the object as JSON, with random whitespace and escaped characters.
 * @param plainKeys keys that are never escaped
 */
export function spellObject(
  members: JsonMembers,
  random: SeededRandom,
  plainKeys: readonly string[] = [],
): string {
  const space = () => (random.chance(0.3) ? random.pick([" ", "\n", "\r\n", "\t", "  "]) : "");
  const text = (value: string) =>
    `"${[
      ...JSON.stringify(value)
        .slice(1, -1)
        .matchAll(/\\u.{4}|\\.|[^\\]/gsu),
    ]
      .map(([part]) => (part.length === 1 && random.chance(0.1) ? escaped(part) : part))
      .join("")}"`;
  const spell = (value: unknown): string => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value))
      return `[${space()}${value.map(spell).join(`${space()},${space()}`)}${space()}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    return object(Object.entries(value));
  };
  const object = (entries: JsonMembers): string =>
    `{${space()}${entries
      .map(
        ([key, value]) =>
          `${plainKeys.includes(key) ? JSON.stringify(key) : text(key)}${space()}:${space()}${spell(value)}`,
      )
      .join(`${space()},${space()}`)}${space()}}`;
  return `${space()}${object(members)}${space()}`;
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export type JsonMembers = [key: string, value: unknown][];

export function jsonMembers(): fc.Arbitrary<JsonMembers> {
  return fc.array(fc.tuple(trickyString(), fc.jsonValue({ maxDepth: 2, stringUnit: "binary" })), {
    maxLength: 8,
  });
}

/**
 * Some texts have 32 bytes or more, because the JSON scan in `gateway/wire/json.ts` treats such strings
 * separately.
 */
function trickyString(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 12 }),
    fc
      .array(fc.constantFrom("\\", '"', "a", "é", "😀", "}", "]", ",", "\n", '\\"', "\\\\"), {
        maxLength: 80,
      })
      .map((parts) => parts.join("")),
    fc.constantFrom("model", "usage", "error", "stream", "__proto__", ""),
  );
}
