import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream } from "./tool-upstreams.ts";

/** https://docs.cline.bot/cline-cli/overview */
export const cline: CodingTool = {
  name: "Cline",
  package: "cline",
  version: "3.0.65",
  command: "cline",
  upstreams: [chatUpstream, claudeUpstream],
  setUp: ({ url, apiKey, model }) => [
    "auth",
    "openai-compatible",
    "-k",
    apiKey,
    "-m",
    model,
    "-b",
    `${url}/v1`,
  ],
  run: (prompt) => [prompt],
  readFile: (path) => ({ name: "read_files", input: { files: [{ path }] } }),
};
