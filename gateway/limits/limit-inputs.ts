import * as z from "zod";
import { budgetPeriods, rateNames } from "../../db/entities/limits.ts";
import { dollars, quoting, whole } from "../inputs.ts";
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
