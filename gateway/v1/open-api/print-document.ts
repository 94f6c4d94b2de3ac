import { writeFileSync } from "node:fs";
import { createOpenApiDocument } from "./document.ts";

// `npm run openapi:document` runs this file.
const file = new URL("openapi.json", import.meta.url);
writeFileSync(file, `${JSON.stringify(createOpenApiDocument(), null, 2)}\n`);
