import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Half of a start is compiling. What was compiled is kept beside the packages for the next one; not in the system's folder for
// temporary files, where others could put something else in its place. Where nothing can be written, nothing is kept.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));

const { runProcess } = await import("./start/run-process.ts");
await runProcess(process.argv.slice(2));
