import { isPrivateAddress } from "../is-private-address.ts";
import { keyPlaceholder } from "../setup-plan.ts";
import type { ToolSetup } from "../tool-setup.ts";

/** The variables that most programs read, for tools without their own setup. */
export const other: ToolSetup = {
  name: "Other tools",
  checkedWith: null,
  dialect: null,
  workloads: ["daily"],
  plan: ({ baseUrl, models, operatingSystem }) => ({
    files: [],
    environment: {
      variables: {
        OPENAI_BASE_URL: `${baseUrl}/v1`,
        // Older OpenAI SDKs and Aider read this variable.
        OPENAI_API_BASE: `${baseUrl}/v1`,
        OPENAI_API_KEY: keyPlaceholder,
        OPENAI_MODEL: models.daily.slug,
        ANTHROPIC_BASE_URL: baseUrl,
        ANTHROPIC_AUTH_TOKEN: keyPlaceholder,
        GATEWAY_API_KEY: keyPlaceholder,
      },
      remove: ["ANTHROPIC_API_KEY"],
      load: "on-demand",
    },
    next:
      operatingSystem === "posix"
        ? "To use it in a terminal: . ~/.config/model-gateway/other.sh"
        : // Windows' default execution policy blocks script files, but not their text as a command.
          'To use it in a terminal: Invoke-Expression (Get-Content -Raw -LiteralPath "$env:USERPROFILE\\.config\\model-gateway\\other.ps1")',
  }),
  verify: [
    'On macOS and Linux: curl "$OPENAI_BASE_URL/models" -H "Authorization: Bearer $OPENAI_API_KEY" lists the key\'s models.',
    'In PowerShell, use: curl.exe "$env:OPENAI_BASE_URL/models" -H "Authorization: Bearer $env:OPENAI_API_KEY"',
  ],
  notes: ({ baseUrl }) => [
    `Cursor: in Settings > Models, enter the key as OpenAI API key and ${baseUrl}/v1 as Override OpenAI Base URL.`,
  ],
  warnings: ({ baseUrl }) =>
    isPrivateAddress(baseUrl)
      ? [
          `Cursor sends requests from its own servers, which cannot reach ${baseUrl}. It needs a gateway with a public https URL.`,
        ]
      : [],
};
