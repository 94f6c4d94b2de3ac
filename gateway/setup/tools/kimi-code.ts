import { keyPlaceholder } from "../setup-plan.ts";
import { contextWindowAssumed, set, type ToolSetup } from "../tool-setup.ts";

/** https://moonshotai.github.io/kimi-code/ */
export const kimiCode: ToolSetup = {
  name: "Kimi Code",
  checkedWith: { version: "2.1.0", month: "November 2026" },
  dialect: "chat",
  workloads: ["daily"],
  plan: ({ baseUrl, models }) => ({
    program: "kimi",
    install: "npm install -g @moonshot-ai/kimi-code",
    files: [
      {
        folder: { variable: "KIMI_CODE_HOME", home: [".kimi-code"] },
        path: ["config.toml"],
        format: "toml",
        operations: [
          set(["default_model"], `gateway/${models.daily.slug}`),
          set(["providers", "gateway", "type"], "openai"),
          set(["providers", "gateway", "base_url"], `${baseUrl}/v1`),
          set(["providers", "gateway", "api_key"], keyPlaceholder),
          // Removes an earlier setup's models if the key is no longer connected to them.
          {
            do: "removeTables",
            path: ["models"],
            prefix: "gateway/",
            keep: models.connected.map(({ slug }) => `gateway/${slug}`),
          },
          ...models.connected.flatMap(({ slug, contextWindow }) => {
            const table = ["models", `gateway/${slug}`];
            return [
              set([...table, "provider"], "gateway"),
              set([...table, "model"], slug),
              // Kimi Code does not start without this setting.
              set([...table, "max_context_size"], contextWindow ?? contextWindowAssumed),
            ];
          }),
        ],
      },
    ],
    next: "Restart Kimi Code: kimi",
  }),
  verify: ['kimi -p "say hi" prints an answer.', "/model in Kimi Code shows the gateway's models."],
};
