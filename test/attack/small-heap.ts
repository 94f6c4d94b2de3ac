import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { ExecutionContext } from "ava";
import { type Stage, setStage } from "../chaos/stage.ts";
import { createMigratedDatabase } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

/** Starts a gateway process that has 512 MB for objects. */
export async function startWithSmallHeap(t: ExecutionContext, upstream: { url: string }): Promise<Stage> {
  return setStage(t, {
    upstream,
    dataDir: await createTestFolder(t),
    databaseUrl: await createMigratedDatabase(t, "sqlite"),
    environment: { NODE_OPTIONS: "--max-old-space-size=512" },
  });
}

/** Returns the resident memory of the gateway's process in MB: now, or at most so far. */
export function memoryOf(stage: Stage, name: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${stage.gateway().child.pid}/status`, "utf8");
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
}

/** Resolves when the bytes are sent, or the connection is closed. */
export function write(socket: Socket, bytes: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off("close", done);
      resolve();
    };
    socket.once("close", done);
    socket.write(bytes, done);
  });
}
