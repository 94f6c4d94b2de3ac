import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Compiling takes half of a start, so compiled code is cached beside the packages. Other users could replace
// it in the system's temporary folder.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));

const { runProcess } = await import("./start/run-process.ts");
await runProcess(process.argv.slice(2));
