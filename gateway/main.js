import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

// By default, V8 marks the whole heap whenever request bodies reach 64 MB outside the heap. Marking doubles the CPU
// time of a 1 MB request.
setFlagsFromString("--external-memory-accounted-in-global-limit");
setFlagsFromString("--heap-growing-percent=300");

// By default, the space for new objects grows to 32 MB during startup. `run-process.ts` allows this growth after
// the start.
setFlagsFromString("--semi-space-growth-factor=1");

// Compiling takes half of the startup time. Other users could replace code in Node's default, temporary folder.
// Set V8's flags first, because Node names a subfolder after them.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));

// An import of `node:http` reads these members, which would load Node's WebSocket client (13 MB).
const http = process.getBuiltinModule("node:http");
for (const name of ["WebSocket", "CloseEvent", "MessageEvent"]) Reflect.deleteProperty(http, name);

const { runProcess } = await import("./start/run-process.ts");
await runProcess(process.argv.slice(2));
