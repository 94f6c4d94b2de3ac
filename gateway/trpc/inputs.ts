import * as z from "zod";
import { isAddressRange } from "../limits/key-limits.ts";
import { providerNamePattern, slugLengthMax } from "../routing/slug.ts";

const halfCharacter = "must not contain a lone surrogate";

/** Shared parts of inputs. Objects are strict everywhere: an unknown field is an error. */
export const id = z
  .string()
  .max(40)
  // MySQL ignores trailing spaces when it compares IDs.
  .regex(/^\S+$/, "is not a valid ID");

/** The start of a page, from the previous page. */
export const cursor = id.nullish().transform((text) => text ?? undefined);

export const pageLimit = z.int().min(1).max(200).optional();

export const search = z.string().max(255).optional();

/** The edited revision, which detects a concurrent change. */
export const revision = z.int().min(1).optional();

// Names may contain anything except control characters.
export const name = z
  .string()
  .trim()
  .min(1, "must not be empty")
  .max(255, "must have at most 255 characters")
  .regex(/^\P{Cc}*$/u, "must not contain control characters")
  .refine(isWellFormed, halfCharacter);

export const email = z.email("is not an email address").max(254);

export const password = z
  .string()
  .min(10, "must have at least 10 characters")
  .max(256, "must have at most 256 characters");

/** The token of a link such as `/join#token=…`. */
export const linkToken = z.string().max(256);

export const slug = z.string().min(1).max(slugLengthMax);

export const slugs = z
  .array(slug)
  .max(1_000)
  .transform((list) => [...new Set(list)]);

/**
 * The models that replace a failed one, in order. Inside a union, `max` would hide which field is invalid.
 */
export const fallbacks = z
  .array(slug)
  .refine((list) => list.length <= 5, "must list at most 5 fallbacks")
  .refine((list) => new Set(list).size === list.length, "must not list a model twice");

/** The upstream's name of a model. */
export const upstreamModel = z.string().trim().min(1).max(255).refine(isWellFormed, halfCharacter);

export const providerName = z
  .string()
  .regex(
    providerNamePattern,
    "must have at most 63 lower-case letters, digits and hyphens, and not start with a hyphen",
  );

/** A preset of the provider's kind. */
export const preset = z.string().max(32);

export const baseUrl = z.string().trim().max(2048);

// Line breaks and spaces are copy errors and must not reach a header.
export const apiKey = z
  .string()
  .trim()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, "must be printable characters without spaces");

/** A credential's share of its provider's requests, relative to the other weights. */
export const weight = whole(1_000);

export const environmentVariable = z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, "is not a variable name");

export const moment = z.iso
  .datetime({ offset: true, error: "is not a time such as 2027-01-31T00:00:00Z" })
  .transform((text) => new Date(text))
  // An offset can move a time into the next year, which the databases cannot store.
  .refine((time) => time.getUTCFullYear() <= 9_999, "must be before the year 10000");

// The console converts seconds to milliseconds.
const notATime = "must be between 1 ms and 1 hour";
const milliseconds = z.int(notATime).min(1, notATime).max(3_600_000, notATime);

export const timeouts = z.strictObject({
  connectTimeoutMs: milliseconds.optional(),
  firstByteTimeoutMs: milliseconds.optional(),
  idleTimeoutMs: milliseconds.optional(),
  totalTimeoutMs: milliseconds.optional(),
});

export const tokens = whole(2 ** 31 - 1).nullable();

const atLeastOne = whole(2 ** 31 - 1, "must be 1 or more, or empty for no limit").nullish();

const budget = dollars("must be 0 or more, or empty for no limit").nullish();

export const keyLimits = z.strictObject({
  requestsPerMinute: atLeastOne,
  tokensPerMinute: atLeastOne,
  concurrentRequests: atLeastOne,
  budgetsUsd: z.strictObject({ day: budget, week: budget, month: budget, total: budget }).optional(),
  addressRanges: z
    .array(
      z
        .string()
        .trim()
        .refine(isAddressRange, {
          error: ({ input }) => `${String(input).slice(0, 60)} ${neitherAddressNorRange}`,
        }),
    )
    .max(50, "must list at most 50 address ranges")
    .nullish(),
});

const neitherAddressNorRange = "is neither an IP address nor a range such as 10.0.0.0/8";

/** Whether the text has no lone surrogates, which databases reject and UTF-8 cannot encode. */
function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** A whole number from 1. The form shows the message beside the field. */
function whole(max: number, tooSmall = "must be 1 or more") {
  return z.int("must be a whole number").min(1, tooSmall).max(max, `must be at most ${max}`);
}

/** The charge in relation to the cost: 1.15 adds 15 %. */
export const chargeFactor = z
  .number("must be a number")
  .min(0, "must be 0 or more")
  .max(100, "must be at most 100")
  .refine(
    (factor) => Math.abs(factor * 10_000 - Math.round(factor * 10_000)) < 1e-6,
    "has more than four decimals",
  );

export function dollars(tooSmall: string) {
  return z.number("must be a number").min(0, tooSmall).max(1_000_000, "must be at most 1000000");
}
