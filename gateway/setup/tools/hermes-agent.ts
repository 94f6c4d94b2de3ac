import { keyPlaceholder } from "../setup-plan.ts";
import { ownText, type ToolSetup } from "../tool-setup.ts";

/** https://hermes-agent.nousresearch.com/docs/user-guide/configuration */
export const hermesAgent: ToolSetup = {
  name: "Hermes Agent",
  checkedWith: { version: "0.19.0", month: "November 2026" },
  dialect: "chat",
  workloads: ["light", "daily"],
  plan: ({ baseUrl, models: { light, daily, connected } }) => ({
    program: "hermes",
    install: "python3 -m pip install hermes-agent",
    files: [
      {
        folder: hermesHome,
        path: ["config.yaml"],
        format: "own",
        text: ownText([
          "model:",
          `  default: ${JSON.stringify(daily.slug)}`,
          "  provider: gateway",
          "providers:",
          "  gateway:",
          `    base_url: ${JSON.stringify(`${baseUrl}/v1`)}`,
          `    api_key: ${JSON.stringify(keyPlaceholder)}`,
          `    default_model: ${JSON.stringify(daily.slug)}`,
          // Without this header, requests carry only the name of OpenAI's library.
          "    extra_headers: { User-Agent: hermes-agent }",
          "    models:",
          ...connected.map(
            ({ slug, contextWindow }) =>
              `      ${JSON.stringify(slug)}: {${contextWindow === null ? "" : ` context_length: ${contextWindow} `}}`,
          ),
          "auxiliary:",
          ...["title_generation", "compression", "web_extract"].map(
            (task) => `  ${task}: { provider: gateway, model: ${JSON.stringify(light.slug)} }`,
          ),
        ]),
        otherwise: { folder: hermesHome, path: ["profiles", "gateway", "config.yaml"] },
      },
    ],
    next: "Restart Hermes: hermes (or hermes -p gateway, if the setup created that profile)",
  }),
  verify: ['hermes chat -q "say hi" prints an answer.', "/model in Hermes shows the gateway's models."],
  notes: () => [
    "YAML cannot be merged safely. An existing config.yaml stays unchanged, and the gateway settings go to a new profile named gateway.",
  ],
};

const hermesHome = { variable: "HERMES_HOME", home: [".hermes"] };
