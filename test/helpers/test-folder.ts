import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ExecutionContext } from "ava";

export async function createTestFolder(t: Pick<ExecutionContext, "teardown">): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "gateway-test-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
