import * as z from "zod";
import { detailedComponents } from "../known-models/prices.ts";
import { chargeFactor, dollars, tokens } from "./inputs.ts";

const price = dollars("must be 0 or more").nullable();

/** The four prices that most models have. */
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
  .regex(/^[a-z0-9_-]{1,32}$/, "must have at most 32 lower-case letters, digits, hyphens and underscores");
const moment = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/, "is not a date such as 2027-01-31")
  .refine((text) => Number.isFinite(Date.parse(text)), "is not a date such as 2027-01-31");
const hour = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "is not a time such as 01:00");

const condition = z
  .strictObject({
    inputTokensAbove: tokens.unwrap().optional(),
    serviceTier: term.optional(),
    speed: term.optional(),
    region: term.optional(),
    from: moment.optional(),
    before: moment.optional(),
    hours: z.strictObject({ from: hour, to: hour }).optional(),
  })
  .refine((when) => Object.values(when).some((value) => value !== undefined), "must not be empty");

const rule = z
  .strictObject({
    when: condition,
    prices: z.strictObject({ ...usual, ...details }).optional(),
    factor: chargeFactor.optional(),
    part: z.literal("above").optional(),
  })
  .refine(({ prices, factor }) => prices !== undefined || factor !== undefined, "needs prices or a factor")
  .refine(
    ({ part, when }) => part === undefined || when.inputTokensAbove !== undefined,
    "needs a prompt length for its part",
  );

/** US dollars per million tokens, and per thousand searches and requests. Given rules replace all others. */
export const prices = z.strictObject({
  ...usual,
  ...details,
  rules: z
    .array(rule)
    .refine((list) => list.length <= 30, "must list at most 30 price rules")
    .optional(),
});
