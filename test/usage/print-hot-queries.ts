import { writeFileSync } from "node:fs";
import { printHotQueries } from "../helpers/hot-queries.ts";

// `node test/usage/print-hot-queries.ts` writes the checked-in statements after an intended change.
writeFileSync(new URL("hot-queries.sql", import.meta.url), printHotQueries());
