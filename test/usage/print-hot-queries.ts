import { writeFileSync } from "node:fs";
import { printHotQueries } from "../helpers/hot-queries.ts";

// After an intended change to the queries, `node test/usage/print-hot-queries.ts` updates `hot-queries.sql`.
writeFileSync(new URL("hot-queries.sql", import.meta.url), printHotQueries());
