import { writeFileSync } from "node:fs";
import { printUsageSchema } from "./schema.ts";

// `npm run graphql:schema`: writes the schema that is checked in.
writeFileSync(new URL("schema.graphql", import.meta.url), printUsageSchema());
