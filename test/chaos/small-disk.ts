import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { createTestFolder } from "../helpers/test-folder.ts";

/** Mounts a disk of the size, as `64k`. Returns null without permission. */
export async function mountSmallDisk(t: ExecutionContext, size: string): Promise<string | null> {
  const folder = await createTestFolder(t);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], {
    stdio: "ignore",
  });
  if (status !== 0) return null;
  t.teardown(() => void spawnSync("umount", [folder]));
  return folder;
}

/** Fills a disk to its last byte with the file `filler`. */
export function fillDisk(folder: string): void {
  for (let bytes = 64 * 1024; bytes >= 1; bytes /= 2) {
    for (;;) {
      try {
        writeFileSync(path.join(folder, "filler"), Buffer.alloc(bytes), { flag: "a" });
      } catch {
        break;
      }
    }
  }
}
