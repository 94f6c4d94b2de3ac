import type { CodingTool } from "./coding-tool.ts";
import { chatUpstream, claudeUpstream, geminiUpstream } from "./tool-upstreams.ts";

/** https://code.claude.com/docs/en/settings and https://code.claude.com/docs/en/llm-gateway */
export const claudeCode: CodingTool = {
  name: "Claude Code",
  package: "@anthropic-ai/claude-code",
  version: "2.1.329",
  command: "claude",
  upstreams: [claudeUpstream, chatUpstream, geminiUpstream],
  files: ({ url, apiKey, model }) => ({
    ".claude/settings.json": JSON.stringify({
      model: "sonnet",
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: apiKey,
        ANTHROPIC_API_KEY: "",
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        ANTHROPIC_DEFAULT_SONNET_MODEL: model,
        ANTHROPIC_DEFAULT_OPUS_MODEL: model,
        ANTHROPIC_DEFAULT_FABLE_MODEL: model,
        ANTHROPIC_DEFAULT_MODEL: model,
        CLAUDE_CODE_MAX_CONTEXT_TOKENS: "200000",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ...(!model.startsWith("anthropic/") && { CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: "1" }),
      },
    }),
  }),
  run: (prompt) => ["-p", prompt],
  readFile: (file_path) => ({ name: "Read", input: { file_path } }),
};
