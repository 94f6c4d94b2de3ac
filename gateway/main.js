import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

// By default, V8 collects the whole heap each time that request bodies fill 64 MB outside the heap. A
// collection takes as long as relaying the bodies.
setFlagsFromString("--external-memory-accounted-in-global-limit");
setFlagsFromString("--heap-growing-percent=300");

// Startup needs little space for new objects, but by default V8 grows it to 32 MB and keeps it. `run-process.ts`
// lets it grow afterwards.
setFlagsFromString("--semi-space-growth-factor=1");

// Compiling takes half of a start. In the system's temporary folder, other users could replace the compiled code.
// Node names a subfolder after V8's flags, so this call follows them.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));

// Importing `node:http` reads all its members, which loads Node's WebSocket client: 13 MB.
const http = process.getBuiltinModule("node:http");
for (const name of ["WebSocket", "CloseEvent", "MessageEvent"]) Reflect.deleteProperty(http, name);

const { runProcess } = await import("./start/run-process.ts");
await runProcess(process.argv.slice(2));
