import { mkdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/**
 * Returns the folder that caches programs for later runs. Throws if another user owns the folder or may write to it.
 */
export function openTestCache(): string {
  const user = process.getuid?.();
  const folder = process.env.TEST_TOOLS_DIR ?? path.join(tmpdir(), `gateway-coding-tools-${user ?? ""}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(folder);
  if (user !== undefined && (uid !== user || (mode & 0o022) !== 0)) {
    throw new Error(`Others than you can write to ${folder}.`);
  }
  return folder;
}
