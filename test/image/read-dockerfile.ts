/** One instruction of a Dockerfile: `{ name: "COPY", flags: ["--from=build"], value: "/app/db db", words: [...] }`. */
export type Instruction = { name: string; flags: string[]; value: string; words: string[] };

/** Returns the stages of a Dockerfile. The instructions before the first FROM form their own stage. */
export function readDockerfile(text: string): Instruction[][] {
  const lines = text
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n/g, " ")
    .split("\n");
  const stages: Instruction[][] = [[]];
  for (const line of lines) {
    const [, name = "", rest = ""] = /^\s*([A-Za-z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === "") continue;
    const flags = /^(--\S+\s+)*/.exec(rest)?.[0] ?? "";
    const value = rest.slice(flags.length).trim();
    const instruction = {
      name: name.toUpperCase(),
      flags: flags.split(/\s+/).filter(Boolean),
      value,
      words: readWords(value),
    };
    if (instruction.name === "FROM") stages.push([]);
    stages.at(-1)?.push(instruction);
  }
  return stages;
}

/** Docker's exec form is JSON, and its shell form consists of words. */
function readWords(value: string): string[] {
  return value.startsWith("[") ? (JSON.parse(value) as string[]) : value.split(/\s+/);
}
