import * as z from "zod";
import { isAddressRange } from "../limits/key-limits.ts";
import { providerNamePattern, slugLengthMax } from "../routing/slug.ts";
import { detailedComponents } from "../known-models/prices.ts";

const halfCharacter = "The text contains a lone surrogate, which is half a character. Remove it.";

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
  .refine(isWellFormed, halfCharacter);

export const email = z
  .email(quoting("is not an email address. Use an address such as ada@example.com."))
  .max(254, "The email address has more than 254 characters. Use a shorter address.");

export const password = z
  .string()
  .min(10, "The password has fewer than 10 characters. Use 10 to 256 characters.")
  .max(256, "The password has more than 256 characters. Use 10 to 256 characters.");

/** The token of a link such as `/join#token=…`. */
export const linkToken = z.string().max(256);

export const slug = z.string().min(1).max(slugLengthMax);

export const slugs = z
  .array(slug)
  .max(1_000)
  .transform((list) => [...new Set(list)]);

// Inside a union, `max` would hide the path of the invalid field.
export const fallbacks = z
  .array(slug)
  .refine((list) => list.length <= 5, "The list has more than 5 fallbacks. Remove some of them.")
  .refine((list) => duplicateIn(list) === undefined, {
    error: ({ input }) =>
      `The list contains "${duplicateIn(input as string[])}" twice. Remove the duplicate.`,
  });

function duplicateIn(list: readonly string[]): string | undefined {
  return list.find((each, index) => list.indexOf(each) < index);
}

export const upstreamModel = z
  .string()
  .trim()
  .min(1, "The upstream model is empty. Enter the provider's model ID.")
  .max(255, "The upstream model has more than 255 characters. Enter the provider's model ID.")
  .refine(isWellFormed, halfCharacter);

export const providerName = z
  .string()
  .regex(
    providerNamePattern,
    quoting(
      "is not a provider name. Use at most 63 lower-case letters, digits and hyphens, and no hyphen at the start.",
    ),
  );

export const preset = z.string().max(32);

export const baseUrl = z.string().trim().max(2048);

export const apiKey = z
  .string()
  .trim()
  .min(1, "The key is empty. Enter a key.")
  .max(4096, "The key has more than 4096 characters. Copy only the key.")
  .regex(
    /^[\x21-\x7e]+$/,
    "The key contains spaces, control characters or non-ASCII characters. Copy only the key.",
  );

export const weight = whole(1_000);

export const environmentVariable = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,63}$/, "The variable name is invalid. Use a name such as OPENAI_API_KEY.");

export const moment = z.iso
  .datetime({ offset: true, ...quoting("is not a time. Use a time such as 2027-01-31T00:00:00Z.") })
  // An offset can move a time into the year 10000, which MySQL cannot store.
  .refine(
    (text) => !(new Date(text).getUTCFullYear() > 9_999),
    quoting("is after the year 9999 in UTC. Use an earlier time."),
  )
  .transform((text) => new Date(text));

const outOfRange = quoting("ms is out of range. Use 1 ms to 1 hour.");
const milliseconds = z
  .int(quoting("is not a whole number of milliseconds. Use 1 ms to 1 hour."))
  .min(1, outOfRange)
  .max(3_600_000, outOfRange);

export const timeouts = z.strictObject({
  connectTimeoutMs: milliseconds.optional(),
  firstByteTimeoutMs: milliseconds.optional(),
  idleTimeoutMs: milliseconds.optional(),
  totalTimeoutMs: milliseconds.optional(),
});

export const tokens = whole(2 ** 31 - 1).nullable();

const atLeastOne = whole(2 ** 31 - 1, "Use 1 or more, or leave the field empty for no limit.").nullish();

const budget = dollars("Use 0 or more, or leave the field empty for no limit.").nullish();

const noAddressRange = "is not an IP address or range. Use an address, or a range such as 10.0.0.0/8.";

export const keyLimits = z.strictObject({
  requestsPerMinute: atLeastOne,
  tokensPerMinute: atLeastOne,
  concurrentRequests: atLeastOne,
  budgetsUsd: z.strictObject({ day: budget, week: budget, month: budget, total: budget }).optional(),
  addressRanges: z
    .array(z.string().trim().refine(isAddressRange, quoting(noAddressRange)))
    .max(50, "The list has more than 50 address ranges. Remove some of them, or use wider ranges.")
    .nullish(),
});

function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

function whole(max: number, least = "Use 1 or more.") {
  return z
    .int(quoting("is not a whole number. Use a whole number of at least 1."))
    .min(1, quoting(`is too small. ${least}`))
    .max(max, quoting(`is too large. Use at most ${max}.`));
}

/** Starts the error message with the value. For a missing value, `explainIssue` writes the message. */
function quoting(problem: string) {
  return {
    error: ({ input }: { input: unknown }) =>
      input === undefined ? undefined : `${nameValue(input)} ${problem}`,
  };
}

function nameValue(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? `"${value.slice(0, 60)}${value.length > 60 ? "…" : ""}"` : "The value";
}

/** The charge in relation to the cost: 1.15 adds 15 %. */
export const chargeFactor = z
  .number(quoting("is not a number. Use a number such as 1.15."))
  .min(0, quoting("is too small. Use 0 or more."))
  .max(100, quoting("is too large. Use at most 100."))
  .refine(
    (factor) => Math.abs(factor * 10_000 - Math.round(factor * 10_000)) < 1e-6,
    quoting("has more than four decimals. Round the factor, for example to 1.15."),
  );

function dollars(least: string) {
  return z
    .number(quoting("is not an amount in US dollars. Use a number such as 0.5."))
    .min(0, quoting(`is too small. ${least}`))
    .max(1_000_000, quoting("is too large. Use at most 1000000."));
}

const price = dollars("Use 0 or more.").nullable();

const usual = {
  input: price.optional(),
  cachedInput: price.optional(),
  cacheWrite: price.optional(),
  output: price.optional(),
};

const details = z.strictObject(
  Object.fromEntries(detailedComponents.map((name) => [name, price.optional()])) as Record<
    (typeof detailedComponents)[number],
    z.ZodOptional<typeof price>
  >,
).shape;

const term = z
  .string()
  .regex(
    /^[a-z0-9_-]{1,32}$/,
    quoting("is invalid. Use at most 32 lower-case letters, digits, hyphens and underscores."),
  );
const noDate = quoting("is not a date. Use a date such as 2027-01-31.");
const priceMoment = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/, noDate)
  .refine((text) => Number.isFinite(Date.parse(text)), noDate);
const hour = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, quoting("is not a time of day. Use a time such as 01:00."));

const condition = z
  .strictObject({
    inputTokensAbove: tokens.unwrap().optional(),
    serviceTier: term.optional(),
    speed: term.optional(),
    region: term.optional(),
    from: priceMoment.optional(),
    before: priceMoment.optional(),
    hours: z.strictObject({ from: hour, to: hour }).optional(),
  })
  .refine(
    (when) => Object.values(when).some((value) => value !== undefined),
    "The condition is empty. Set at least one of its fields.",
  );

const rule = z
  .strictObject({
    when: condition,
    prices: z.strictObject({ ...usual, ...details }).optional(),
    factor: chargeFactor.optional(),
    part: z.literal("above").optional(),
  })
  .refine(
    ({ prices, factor }) => prices !== undefined || factor !== undefined,
    "The rule has no prices and no factor. Set prices or a factor.",
  )
  .refine(
    ({ part, when }) => part === undefined || when.inputTokensAbove !== undefined,
    "The rule has `part` without `inputTokensAbove`. Set `inputTokensAbove`, or remove `part`.",
  );

/** US dollars per million tokens, and per thousand searches or requests. `rules` replaces all stored rules. */
export const prices = z.strictObject({
  ...usual,
  ...details,
  rules: z
    .array(rule)
    .refine((list) => list.length <= 30, "The list has more than 30 price rules. Remove some of them.")
    .optional(),
});
