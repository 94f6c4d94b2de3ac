import { readFileSync } from "node:fs";
import test from "ava";
import type { ToolSetup } from "../../gateway/setup/tool-setup.ts";
import { toolSetups } from "../../gateway/setup/tool-setups.ts";
import type { CodingTool } from "../tools/coding-tool.ts";
import { allTools, selectTools } from "../tools/coding-tools.ts";
import { toolMatrix } from "../tools/tool-matrix.ts";
import { setupModels } from "./setup-models.ts";

test("the README of the setup folder lists every tool with its verification", (t) => {
  const text = readFileSync(new URL("../../gateway/setup/README.md", import.meta.url), "utf8");
  const table = text.slice(text.indexOf("| tool "), text.indexOf("## Windows"));
  const rows = table.trim().split("\n").slice(2);
  t.deepEqual(
    rows.map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ),
    toolMatrix.map(({ tool, version, api, verified }) => [tool, version, api, verified]),
  );
});

test("every tool is run in the version that its setup names, or has its documentation", (t) => {
  for (const [id, { checkedWith }] of Object.entries<ToolSetup>(toolSetups)) {
    if (!checkedWith) continue;
    const run = allTools.find(({ tab }) => tab === id);
    if (checkedWith.documentation === undefined) t.is(run?.version, checkedWith.version ?? undefined, id);
    else t.is(run, undefined, id);
  }
});

test("the tools that CI runs cover every API and every form of settings", (t) => {
  t.deepEqual(formsOf(selectTools({ isFast: true })), formsOf(allTools));
});

function formsOf(tools: CodingTool[]): string[] {
  const options = { baseUrl: "https://gateway.example.com", models: setupModels() };
  const forms = tools.flatMap(({ tab }) => {
    const { dialect, plan } = toolSetups[tab];
    const { files, environment } = plan({ ...options, operatingSystem: "posix" });
    return [dialect, ...files.map(({ format }) => format), environment?.load];
  });
  return [...new Set(forms.filter((form) => typeof form === "string"))].toSorted();
}
