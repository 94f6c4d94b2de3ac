import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** Documentation: https://docs.factory.ai/model-independence/byok */
export const droid: CodingTool = {
  name: "Factory Droid",
  package: "droid",
  version: "0.215.0",
  command: "droid",
  upstreams: [chatUpstream, claudeUpstream],
  tab: "droid",
  isSlow: true,
  environment: { FACTORY_DROID_AUTO_UPDATE_ENABLED: "false" },
  run: (prompt) => ["exec", prompt],
  readFile: (file_path) => ({ name: "Read", input: { file_path } }),
};
