import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { ExecutionContext } from "ava";
import type { Answer, Asked } from "../helpers/native-upstreams/native-upstream.ts";
import { plainAnswer, plainUsage } from "../scenarios/step.ts";
import { codingModel } from "./coding-model.ts";
import type { CodingTool } from "./coding-tool.ts";
import type { ToolConnection } from "./connect-tool-upstream.ts";
import { installTool } from "./install-tool.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";
import { createToolHome } from "./tool-home.ts";

export async function tryTool(
  t: ExecutionContext,
  { tool, connection, model, isToolUsed }: Trial,
): Promise<void> {
  const { upstream } = connection;
  const access = connection.accessTo(model);
  const installed = await installTool(tool);
  if ("said" in installed) return t.fail(installed.said);
  const { project, environment, wanted } = await createToolHome(t, tool, access);
  const word = randomBytes(6).toString("hex");
  const file = path.join(project, "notes.txt");
  await writeFile(file, `The word of the day is ${word}.\n`);
  if (tool.isInRepository) {
    const initialize = ["-c", "git init --quiet && git add notes.txt"];
    await runProgram("sh", initialize, { folder: project, environment, timeoutMs: 20_000 });
  }
  const call = tool.readFile?.(file);
  const prompt = isToolUsed ? "Which word is in notes.txt?" : "say hi";
  const conclude = (results: string) => ["The word ", "is ", isToolUsed ? wordIn(results) : word, "."];
  connection.script = call
    ? codingModel({ prompt, reader: call.name, calls: isToolUsed ? [call] : [], conclude })
    : modelWithoutTools(conclude);

  // Runs the profile first, like a new terminal.
  const profile = ["-c", '. ~/.bashrc && exec "$0" "$@"', installed.command];
  const [command, start] = tool.isSetUpByProfile ? ["bash", profile] : [installed.command, []];
  const parameters = [...start, ...tool.run(prompt)];
  const result = await runProgram(command, parameters, { folder: project, environment, timeoutMs: 200_000 });
  if (wanted.length > 0) t.log(`${tool.name} wanted to reach ${[...new Set(wanted)].join(", ")}`);
  t.deepEqual(upstream.refusals, []);
  // Native responses keep the upstream's members, so only translated ones are validated.
  if (!["openai-compatible", "azure-openai"].includes(upstream.kind)) t.deepEqual(connection.faults, []);
  check(t, result, `The word is ${word}.`, connection.gatewayLog);
  const records = await connection.newRecords();
  // A tool may cancel its side requests, such as those for titles.
  const failed = records.filter(({ status }) => status === "FAILED");
  t.deepEqual(failed, []);
  const counted = records.filter(({ status }) => status === "SUCCEEDED");
  t.true(counted.length > (isToolUsed && call ? 1 : 0), JSON.stringify(records));
  const { input: inputTokens, cached: cachedInputTokens, output: outputTokens } = plainUsage;
  for (const record of counted) t.like(record, { inputTokens, cachedInputTokens, outputTokens });
}

type Trial = {
  tool: CodingTool;
  connection: ToolConnection;
  model: string;
  isToolUsed: boolean;
};

/** Returns the script of a model that finds the file's content in the messages. */
function modelWithoutTools(conclude: (results: string) => string[]): (asked: Asked) => Answer {
  return ({ turns }) => {
    const texts = turns.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? part.text : [])));
    return { ...plainAnswer, text: conclude(texts.join("\n")) };
  };
}

function wordIn(results: string): string {
  return /of the day is (\w+)/.exec(results)?.[1] ?? `not in ${results}`;
}

function check(t: ExecutionContext, result: ProgramResult, expected: string, gatewayLog: string[]): void {
  const { code, stdout, stderr, isTooLate } = result;
  const mistakes = gatewayLog.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
  const said = [stdout, stderr, ...mistakes].join("\n");
  t.false(isTooLate, `It did not end in time:\n${said}`);
  t.is(code, 0, said);
  t.true(stdout.includes(expected), said);
}
