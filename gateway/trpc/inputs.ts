import * as z from "zod";
import { providerNamePattern, slugLengthMax } from "../models/slug.ts";

/** The parts that inputs are made of. Objects are strict everywhere: an unknown field is a mistake, and said to be one. */
export const id = z.string().min(1).max(40);

// Control characters have no place in a name; everything else people write does.
export const name = z
  .string()
  .trim()
  .min(1, "must not be empty")
  .max(255, "must have at most 255 characters")
  .regex(/^\P{Cc}*$/u, "must not hold control characters");

export const email = z.email("is not an e-mail address").max(254);

export const password = z
  .string()
  .min(10, "must have at least 10 characters")
  .max(256, "must have at most 256 characters");

export const slug = z.string().min(1).max(slugLengthMax);

export const slugs = z
  .array(slug)
  .max(1_000)
  .transform((list) => [...new Set(list)]);

export const providerName = z
  .string()
  .regex(providerNamePattern, "must be lower case letters, digits and -, at most 63");

export const moment = z.iso
  .datetime({ offset: true, error: "is not a time such as 2027-01-31T00:00:00Z" })
  .transform((text) => new Date(text));

const milliseconds = z.int().min(1).max(3_600_000);

export const timeouts = z.strictObject({
  connectTimeoutMs: milliseconds.optional(),
  firstByteTimeoutMs: milliseconds.optional(),
  idleTimeoutMs: milliseconds.optional(),
  totalTimeoutMs: milliseconds.optional(),
});

const price = z.number().min(0).max(1_000_000).nullable();

/** US dollars per million tokens. */
export const prices = z.strictObject({
  input: price.optional(),
  cachedInput: price.optional(),
  cacheWrite: price.optional(),
  output: price.optional(),
});

export const tokens = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)
  .nullable();
