import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

// By default, V8 collects the whole heap each time that request bodies fill 64 MB outside the heap. A
// collection takes as long as relaying the bodies.
setFlagsFromString("--external-memory-accounted-in-global-limit");
setFlagsFromString("--heap-growing-percent=300");

// A start needs little space for new objects, but would keep 32 MB. `run-process.ts` lets the space grow
// afterwards.
setFlagsFromString("--semi-space-growth-factor=1");

// Compiling takes half of a start. The system's temporary folder would let other users replace compiled code. V8 rejects
// code that other flags compiled, so the cache has a folder for the flags set above.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));

// Importing `node:http` reads all its members, which loads Node's WebSocket client: 13 MB.
const http = process.getBuiltinModule("node:http");
for (const name of ["WebSocket", "CloseEvent", "MessageEvent"]) Reflect.deleteProperty(http, name);

const { runProcess } = await import("./start/run-process.ts");
await runProcess(process.argv.slice(2));
