import { InitialSchema } from "./0001-initial-schema.ts";

/** The result of a released migration must never change. */
export const migrations = [InitialSchema];
