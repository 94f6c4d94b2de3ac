import { keyPlaceholder } from "../setup-plan.ts";
import type { SetupModels } from "../setup-input.ts";
import { set, setMembers, type ToolSetup } from "../tool-setup.ts";

/** https://code.claude.com/docs/en/settings and https://code.claude.com/docs/en/llm-gateway */
export const claudeCode: ToolSetup = {
  name: "Claude Code",
  checkedWith: { version: "2.1.329", month: "November 2026" },
  dialect: "messages",
  workloads: ["light", "daily", "hard"],
  plan: ({ baseUrl, models }) => {
    const { light, daily, hard } = models;
    const contextWindow = contextWindowOf(models);
    const isAnthropicOnly = [light, daily, hard].every(({ dialects }) => dialects.includes("messages"));
    return {
      program: "claude",
      install: "npm install -g @anthropic-ai/claude-code",
      files: [
        {
          folder: { variable: "CLAUDE_CONFIG_DIR", home: [".claude"] },
          path: ["settings.json"],
          format: "json",
          operations: [
            // By default, Claude Code uses the model for hard tasks.
            set(["model"], "sonnet"),
            ...setMembers(["env"], {
              ANTHROPIC_BASE_URL: baseUrl,
              ANTHROPIC_AUTH_TOKEN: keyPlaceholder,
              // Keeps Claude Code from also sending an Anthropic key from the shell's variables.
              ANTHROPIC_API_KEY: "",
              ANTHROPIC_DEFAULT_HAIKU_MODEL: light.slug,
              ANTHROPIC_DEFAULT_SONNET_MODEL: daily.slug,
              ANTHROPIC_DEFAULT_OPUS_MODEL: hard.slug,
              // Without this setting, Claude Code's fourth tier requests one of Anthropic's own models.
              ANTHROPIC_DEFAULT_FABLE_MODEL: hard.slug,
              ANTHROPIC_DEFAULT_MODEL: daily.slug,
              // This limit applies to all models that Claude Code does not recognize.
              CLAUDE_CODE_MAX_CONTEXT_TOKENS: contextWindow === null ? null : String(contextWindow),
              // Upstreams without the Messages API do not support Anthropic's betas.
              CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: isAnthropicOnly ? null : "1",
              // `ANTHROPIC_MODEL` would override the `model` setting above.
              ANTHROPIC_MODEL: null,
              ANTHROPIC_SMALL_FAST_MODEL: null,
            }),
            set(["modelPicker"], {
              replaceBuiltInOptions: true,
              options: [
                { model: "haiku", label: "Light tasks", description: light.slug },
                { model: "sonnet", label: "Daily use", description: daily.slug },
                { model: "opus", label: "Hard tasks", description: hard.slug },
              ],
            }),
          ],
        },
      ],
      next: "Restart Claude Code: claude",
    };
  },
  verify: [
    'claude -p "say hi" prints an answer.',
    "/status in Claude Code shows the gateway's URL and the model for daily use.",
    "/model shows light tasks, daily use and hard tasks.",
  ],
  elsewhere: ({ baseUrl, models: { daily } }) => [
    {
      name: "VS Code extension",
      version: "2.1",
      documentation: "https://code.claude.com/docs/en/vs-code",
      steps: [
        "The extension reads the same settings.json. If it still requires a login, merge this into VS Code's settings.",
      ],
      fields: [],
      file: { path: "VS Code settings.json", content: extensionSettings(baseUrl) },
    },
    {
      name: "GitHub Action",
      version: "1",
      documentation: "https://code.claude.com/docs/en/github-actions",
      steps: [
        "Store the key as a repository secret named GATEWAY_API_KEY.",
        "Add this step to the workflow. GitHub's runners must be able to reach the gateway.",
      ],
      fields: [{ label: "GATEWAY_API_KEY", value: keyPlaceholder }],
      file: { path: ".github/workflows/claude.yml", content: workflowStep(baseUrl, daily.slug) },
    },
  ],
};

function extensionSettings(baseUrl: string): string {
  const variables = { ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_AUTH_TOKEN: keyPlaceholder };
  const list = Object.entries(variables).map(([name, value]) => ({ name, value }));
  return `${JSON.stringify({ "claudeCode.environmentVariables": list }, null, 2)}\n`;
}

function workflowStep(baseUrl: string, slug: string): string {
  return [
    "- uses: anthropics/claude-code-action@v1",
    "  env:",
    `    ANTHROPIC_BASE_URL: ${JSON.stringify(baseUrl)}`,
    "  with:",
    "    anthropic_api_key: ${{ secrets.GATEWAY_API_KEY }}",
    `    claude_args: --model ${slug}`,
    "",
  ].join("\n");
}

/** The smallest known context window of the models that Claude Code does not recognize, or null. */
function contextWindowOf({ light, daily, hard }: SetupModels): number | null {
  const windows = [light, daily, hard]
    .filter(({ slug }) => !slug.startsWith("anthropic/claude-"))
    .flatMap(({ contextWindow }) => contextWindow ?? []);
  return windows.length === 0 ? null : Math.min(...windows);
}
