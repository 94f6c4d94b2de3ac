import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { editorFrame } from "../../gateway/setup/posix/editor-frame.ts";
import { keyValue } from "./setup-models.ts";

/** Runs one editor as the setup command does. Returns null if the editor rejects the file. */
export function runEditor(editor: string, { awk, text, operations, isLenient = false }: Edit): string | null {
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-test-"));
  try {
    writeFileSync(path.join(folder, "editor.awk"), editorFrame + editor);
    writeFileSync(path.join(folder, "operations"), operations.map((line) => `${line}\n`).join(""));
    const [program = "awk", ...first] = awk === "busybox" ? ["busybox", "awk"] : [awk];
    const { status, stdout, stderr } = spawnSync(program, [...first, ...awkWords("editor.awk", isLenient)], {
      cwd: folder,
      input: `${text}x`,
      encoding: "utf8",
      env: { PATH: process.env.PATH, LC_ALL: "C", HOME: folder, GATEWAY_API_KEY: keyValue },
    });
    if (status === 0) return stdout;
    if (status === 3 && stdout === "") return null;
    throw new Error(`${awk} ended with ${status}: ${stderr}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function awkWords(program: string, isLenient: boolean): string[] {
  return ["-v", "operations=operations", "-v", `lenient=${isLenient ? 1 : 0}`, "-f", program];
}

type Edit = { awk: string; text: string; operations: string[]; isLenient?: boolean };
