import { guideMonth, type ToolSetup } from "../../gateway/setup/tool-setup.ts";
import { toolGuides, toolSetups } from "../../gateway/setup/tool-setups.ts";
import { setupModels } from "../setup/setup-models.ts";
import { allTools } from "./coding-tools.ts";

const apis = { chat: "chat completions", messages: "messages", responses: "responses" };

/** The rows of the table in gateway/setup/README.md: tool, version, API, and how the tool was verified. */
export const toolMatrix: MatrixRow[] = [
  ...Object.entries<ToolSetup>(toolSetups).flatMap(([id, { name, checkedWith, dialect }]) => {
    if (!checkedWith || !dialect) return [];
    const { version, month, documentation } = checkedWith;
    const run = allTools.find(({ tab }) => tab === id);
    const ran = `run by ${run?.isSlow ? "the full test" : "CI"}`;
    const verified = documentation ? `[documentation](${documentation})` : ran;
    return { tool: name, version: version ?? "-", api: apis[dialect], verified: `${verified}, ${month}` };
  }),
  ...Object.values(toolGuides).flatMap(({ apps, dialect }) =>
    apps({ baseUrl: "https://gateway.example.com", models: setupModels() }).map(
      ({ name, version, documentation }) => ({
        tool: name,
        version: version ?? "-",
        api: apis[dialect],
        verified: `[documentation](${documentation}), ${guideMonth}`,
      }),
    ),
  ),
];

export type MatrixRow = { tool: string; version: string; api: string; verified: string };
