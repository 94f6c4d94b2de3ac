import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** Documentation: https://kilo.ai/docs/code-with-ai/platforms/cli */
export const kiloCode: CodingTool = {
  name: "Kilo Code",
  package: "@kilocode/cli",
  version: "7.7.7",
  command: "kilo",
  upstreams: [chatUpstream, claudeUpstream],
  tab: "kilo-code",
  isSlow: true,
  environment: {
    KILO_DISABLE_AUTOUPDATE: "1",
    KILO_DISABLE_MODELS_FETCH: "1",
    KILO_DISABLE_SESSION_INGEST: "1",
    KILO_TELEMETRY_LEVEL: "off",
  },
  run: (prompt) => ["run", prompt],
  readFile: (filePath) => ({ name: "read", input: { filePath } }),
};
