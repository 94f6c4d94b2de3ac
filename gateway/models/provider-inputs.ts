import * as z from "zod";
import { id, quoting, revision, whole } from "../inputs.ts";
import { chargeFactor } from "../known-models/price-inputs.ts";
import { providerKindNames } from "../providers/registry.ts";
import { providerNamePattern } from "../routing/slug.ts";

const providerName = z
  .string()
  .regex(
    providerNamePattern,
    quoting(
      "is not a provider name. Use at most 63 lower-case letters, digits and hyphens, and no hyphen at the start.",
    ),
  );

const preset = z.string().max(32);

const baseUrl = z.string().trim().max(2048);

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

const outOfRange = quoting("ms is out of range. Use 1 ms to 1 hour.");
const milliseconds = z
  .int(quoting("is not a whole number of milliseconds. Use 1 ms to 1 hour."))
  .min(1, outOfRange)
  .max(3_600_000, outOfRange);

const timeouts = z.strictObject({
  connectTimeoutMs: milliseconds.optional(),
  firstByteTimeoutMs: milliseconds.optional(),
  idleTimeoutMs: milliseconds.optional(),
  totalTimeoutMs: milliseconds.optional(),
});

const billing = { costSource: z.enum(["provider"]).nullish(), chargeFactor: chargeFactor.nullish() };

export const newProvider = z.strictObject({
  name: providerName,
  kind: z.enum(providerKindNames),
  preset: preset.nullish(),
  baseUrl: baseUrl.nullish(),
  apiKey: apiKey.optional(),
  timeouts: timeouts.optional(),
  ...billing,
});
export type NewProvider = z.output<typeof newProvider>;

export const providerChanges = z.strictObject({
  id,
  preset: preset.nullish(),
  baseUrl: baseUrl.optional(),
  timeouts: timeouts.optional(),
  ...billing,
  revision,
});
export type ProviderChanges = z.output<typeof providerChanges>;
