import { readFileSync, writeFileSync } from "node:fs";
import { fillTables } from "./fill-tables.ts";

// `npm run config:tables`: writes the tables of the page that is checked in.
const page = new URL("README.md", import.meta.url);
writeFileSync(page, fillTables(readFileSync(page, "utf8")));
