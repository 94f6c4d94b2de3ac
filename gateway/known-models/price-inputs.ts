import * as z from "zod";
import { dollars, quoting, whole } from "../inputs.ts";
import { type PriceComponent, priceComponents } from "../../db/entities/price-details.ts";

/** The charge in relation to the cost: 1.15 adds 15 %. */
export const chargeFactor = z
  .number(quoting("is not a number. Use a number such as 1.15."))
  .min(0, quoting("is too small. Use 0 or more."))
  .max(100, quoting("is too large. Use at most 100."))
  .refine(
    (factor) => Math.abs(factor * 10_000 - Math.round(factor * 10_000)) < 1e-6,
    quoting("has more than four decimals. Round the factor, for example to 1.15."),
  );

const price = dollars("Use 0 or more.").nullable();

type PriceShape = Record<PriceComponent, z.ZodOptional<typeof price>>;

const each = Object.fromEntries(priceComponents.map((name) => [name, price.optional()])) as PriceShape;

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
    inputTokensAbove: whole(2 ** 31 - 1).optional(),
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
    prices: z.strictObject(each).optional(),
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
  ...each,
  rules: z
    .array(rule)
    .refine((list) => list.length <= 30, "The list has more than 30 price rules. Remove some of them.")
    .optional(),
});
