import { keyPlaceholder } from "../setup-plan.ts";
import type { ToolGuide } from "../tool-setup.ts";

export const chatApps: ToolGuide = {
  name: "Chat apps",
  searchTerms: ["Open WebUI", "LibreChat", "Cherry Studio", "Chatbox"],
  dialect: "chat",
  workloads: ["daily"],
  apps: ({ baseUrl, models: { daily } }) => [
    {
      name: "Open WebUI",
      version: "0.12",
      documentation:
        "https://docs.openwebui.com/getting-started/quick-start/connect-a-provider/starting-with-openai-compatible",
      steps: [
        "As an administrator, open Admin Settings > Connections > OpenAI, and add a connection.",
        "Save it. Open WebUI reads the models from the gateway.",
      ],
      fields: [
        { label: "URL", value: `${baseUrl}/v1` },
        { label: "API Key", value: keyPlaceholder },
        // Without this header, requests identify only an HTTP library.
        { label: "Headers", value: '{"User-Agent": "Open WebUI"}' },
      ],
    },
    {
      name: "LibreChat",
      documentation:
        "https://www.librechat.ai/docs/configuration/librechat_yaml/object_structure/custom_endpoint",
      steps: [
        "Add the endpoint below to librechat.yaml, and the variable to LibreChat's .env.",
        "Restart LibreChat. The endpoint is called Gateway.",
      ],
      fields: [{ label: "GATEWAY_API_KEY in .env", value: keyPlaceholder }],
      file: {
        path: "librechat.yaml",
        content: [
          "endpoints:",
          "  custom:",
          '    - name: "Gateway"',
          '      apiKey: "${GATEWAY_API_KEY}"',
          `      baseURL: ${JSON.stringify(`${baseUrl}/v1`)}`,
          "      models:",
          `        default: [${JSON.stringify(daily.slug)}]`,
          "        fetch: true",
          "      titleConvo: true",
          `      titleModel: ${JSON.stringify(daily.slug)}`,
          '      modelDisplayLabel: "Gateway"',
          "      headers:",
          '        User-Agent: "LibreChat"',
          "",
        ].join("\n"),
      },
    },
    {
      name: "Cherry Studio",
      version: "2",
      documentation: "https://github.com/CherryHQ/cherry-studio-docs",
      steps: [
        "Open Settings > Model Services, and add a compatible provider with the type OpenAI.",
        "Enter the values below, then get the list of models and enable them.",
      ],
      fields: [
        { label: "Provider name", value: "Gateway" },
        { label: "API Key", value: keyPlaceholder },
        { label: "API Host", value: baseUrl },
        { label: "Model", value: daily.slug },
      ],
    },
    {
      name: "Chatbox",
      documentation: "https://docs.apiyi.com/en/scenarios/chat/chatbox",
      steps: [
        "Open Settings > Model Provider, choose Add, and select the API mode OpenAI API Compatible.",
        "Enter the values below, then fetch the models or add one.",
      ],
      fields: [
        { label: "Name", value: "Gateway" },
        { label: "API Key", value: keyPlaceholder },
        { label: "API Host", value: `${baseUrl}/v1` },
        { label: "Model", value: daily.slug },
      ],
    },
  ],
};
