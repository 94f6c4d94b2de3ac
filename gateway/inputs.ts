import * as z from "zod";

/** Refuses half characters, which databases and providers cannot store. */
export const wholeCharacters = [
  (text: string): boolean => text.isWellFormed(),
  "The text contains a lone surrogate, which is half a character. Remove it.",
] as const;

export const id = z
  .string()
  .max(40)
  // MySQL ignores trailing spaces when it compares IDs.
  .regex(/^\S+$/, "The ID is empty or contains spaces. Use the ID that the API returned.");

/** The `nextCursor` of the previous page. The first page has none. */
export const cursor = id.nullish().transform((text) => text ?? undefined);

export const pageLimit = z.int().min(1).max(200).optional();

export const search = z.string().max(255).optional();

/** The revision that the client read. An outdated revision fails with `conflict`. */
export const revision = z.int().min(1).optional();

export const name = z
  .string()
  .trim()
  .min(1, "The name is empty. Enter a name.")
  .max(255, "The name has more than 255 characters. Shorten the name.")
  .regex(/^\P{Cc}*$/u, "The name contains control characters. Remove them.")
  .refine(...wholeCharacters);

export const slug = z.string().min(1).max(255);

export const slugs = z
  .array(slug)
  .max(1_000)
  .transform((list) => [...new Set(list)]);

export const moment = z.iso
  .datetime({ offset: true, ...quoting("is not a time. Use a time such as 2027-01-31T00:00:00Z.") })
  // An offset can move a time into the year 10000, which MySQL cannot store.
  .refine(
    (text) => !(new Date(text).getUTCFullYear() > 9_999),
    quoting("is after the year 9999 in UTC. Use an earlier time."),
  )
  .transform((text) => new Date(text));

export function whole(max: number, least = "Use 1 or more.") {
  return z
    .int(quoting("is not a whole number. Use a whole number of at least 1."))
    .min(1, quoting(`is too small. ${least}`))
    .max(max, quoting(`is too large. Use at most ${max}.`));
}

/** Starts the error message with the value. For a missing value, `explainIssue` writes the message. */
export function quoting(problem: string) {
  return {
    error: ({ input }: { input: unknown }) =>
      input === undefined ? undefined : `${nameValue(input)} ${problem}`,
  };
}

function nameValue(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? `"${value.slice(0, 60)}${value.length > 60 ? "…" : ""}"` : "The value";
}

export function dollars(least: string) {
  return z
    .number(quoting("is not an amount in US dollars. Use a number such as 0.5."))
    .min(0, quoting(`is too small. ${least}`))
    .max(1_000_000, quoting("is too large. Use at most 1000000."));
}
