import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// As in `main.js`: a first file in TypeScript would load Node's compiler in this thread, too.
enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/compile", import.meta.url)));

await import("./side-thread-worker.ts");
