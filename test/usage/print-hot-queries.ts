import { writeFileSync } from "node:fs";
import { printHotQueries } from "../helpers/hot-queries.ts";

// `node test/usage/print-hot-queries.ts`: writes the statements that are checked in, for whoever changed them and meant to.
writeFileSync(new URL("hot-queries.sql", import.meta.url), printHotQueries());
