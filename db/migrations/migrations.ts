import { InitialSchema } from "./0001-initial-schema.ts";

/** In the order in which they run. A migration that has been released is never edited again. */
export const migrations = [InitialSchema];
