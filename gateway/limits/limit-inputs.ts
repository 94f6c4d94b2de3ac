import * as z from "zod";
import { budgetPeriods, modelAccesses, rateNames } from "../../db/entities/limits.ts";
import { dollars, quoting, slugs, whole } from "../inputs.ts";
export { modelAccesses } from "../../db/entities/limits.ts";
import { isAddressRange } from "./address-ranges.ts";
import { byName } from "./limit-table.ts";

const atLeastOne = whole(2 ** 31 - 1, "Use 1 or more, or leave the field empty for no limit.").nullish();

const budget = dollars("Use 0 or more, or leave the field empty for no limit.").nullish();

const noAddressRange = "is not an IP address or range. Use an address, or a range such as 10.0.0.0/8.";

export const limitChanges = z.strictObject({
  ...byName(rateNames, () => atLeastOne),
  budgetsUsd: z.strictObject(byName(budgetPeriods, () => budget)).optional(),
  addressRanges: z
    .array(z.string().trim().refine(isAddressRange, quoting(noAddressRange)))
    .max(50, "The list has more than 50 address ranges. Remove some of them, or use wider ranges.")
    .nullish(),
});

/** Null means that the default applies. */
export const payerChanges = {
  /** The number of keys that a member may own: 0 for none. Of people only. */
  keysMax: z.int(quoting("is not a whole number. Use 0 or more.")).min(0).max(1_000_000).nullish(),
  /** The models that keys of a person or team may use. */
  modelAccess: z.enum(modelAccesses).nullish(),
  /** The list. Without `modelAccess: "listed"`, it has no effect. */
  models: slugs.optional(),
};
