import { InitialSchema } from "./0001-initial-schema.ts";
import { Limits } from "./0002-limits.ts";

/** The result of a released migration must never change. */
export const migrations = [InitialSchema, Limits];
