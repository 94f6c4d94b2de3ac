import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Compiling takes half of a start. The system's temporary folder would let other users replace compiled code.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)));

// An import of `node:http` reads all its members, and these load Node's WebSocket client: 13 MB.
const http = process.getBuiltinModule("node:http");
for (const name of ["WebSocket", "CloseEvent", "MessageEvent"]) Reflect.deleteProperty(http, name);

const { runProcess } = await import("./start/run-process.ts");
await runProcess(process.argv.slice(2));
