import { isPrivateAddress } from "../is-private-address.ts";
import { keyPlaceholder } from "../setup-plan.ts";
import type { ToolGuide } from "../tool-setup.ts";

const documentation = "https://docs.litellm.ai/docs/proxy/client_setup/claude_desktop";

export const claudeDesktop: ToolGuide = {
  name: "Claude Desktop",
  dialect: "messages",
  workloads: ["light", "daily", "hard"],
  apps: ({ baseUrl, models: { light, daily, hard } }) => {
    const slugs = [...new Set([daily.slug, hard.slug, light.slug])];
    const settings = {
      inferenceProvider: "gateway",
      inferenceGatewayBaseUrl: baseUrl,
      inferenceGatewayApiKey: keyPlaceholder,
      inferenceGatewayAuthScheme: "bearer",
      inferenceModels: slugs,
    };
    return [
      {
        name: "Claude Desktop",
        documentation,
        steps: [
          "Choose Help > Troubleshooting > Enable Developer Mode. The app restarts.",
          "Choose Developer > Configure Third-Party Inference, and enter the values below under Connection.",
          "Apply the changes and restart the app. A session lists the models below.",
        ],
        fields: [
          { label: "Inference provider", value: "Gateway" },
          { label: "Gateway base URL", value: baseUrl },
          { label: "Gateway API key", value: keyPlaceholder },
          { label: "Gateway auth scheme", value: "bearer" },
          ...slugs.map((slug, index) => ({ label: `Model ${index + 1}`, value: slug })),
        ],
        file: {
          path: "Claude-3p/configLibrary/<uuid>.json",
          content: `${JSON.stringify(settings, null, 2)}\n`,
        },
      },
    ];
  },
  notes: ({ baseUrl }) => [
    "The file is in ~/Library/Application Support on macOS and in %LOCALAPPDATA% on Windows. The app creates it with its own UUID.",
    ...(isPrivateAddress(baseUrl) || baseUrl.startsWith("https:")
      ? []
      : ["Claude Desktop accepts http:// only for this machine. Use an https:// URL."]),
  ],
};
