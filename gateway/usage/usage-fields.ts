import { type UsageDimension, usageDimensions } from "../../db/entities/usage-record.ts";

export { countNames, dimensionNames, type UsageDimension } from "../../db/entities/usage-record.ts";

/** Whether records may lack the dimension. */
export function isOptional(name: UsageDimension): boolean {
  return usageDimensions[name].column.nullable === true;
}
