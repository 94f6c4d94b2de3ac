import { keyPlaceholder } from "../setup-plan.ts";
import { set, type ToolSetup } from "../tool-setup.ts";

/** https://docs.x.ai/build/settings, and the user guide that Grok writes to ~/.grok/docs. */
export const grokBuild: ToolSetup = {
  name: "Grok Build",
  checkedWith: { version: "1.0.41", month: "November 2026" },
  dialect: "chat",
  workloads: ["light", "daily"],
  plan: ({ baseUrl, models }) => ({
    program: "grok",
    install: "npm install -g @xai-official/grok",
    files: [
      {
        folder: { variable: "GROK_HOME", home: [".grok"] },
        path: ["config.toml"],
        format: "toml",
        operations: [
          set(["models", "default"], `gateway/${models.daily.slug}`),
          // Without these two settings, Grok requests titles and suggestions from xAI's models.
          set(["models", "session_summary"], `gateway/${models.light.slug}`),
          set(["models", "prompt_suggestion"], `gateway/${models.light.slug}`),
          // Removes an earlier setup's models if the key is no longer connected to them.
          {
            do: "removeTables",
            path: ["model"],
            prefix: "gateway/",
            keep: models.connected.map(({ slug }) => `gateway/${slug}`),
          },
          ...models.connected.flatMap(({ slug, contextWindow }) => {
            const table = ["model", `gateway/${slug}`];
            return [
              set([...table, "model"], slug),
              set([...table, "base_url"], `${baseUrl}/v1`),
              set([...table, "api_key"], keyPlaceholder),
              ...(contextWindow === null ? [] : [set([...table, "context_window"], contextWindow)]),
            ];
          }),
        ],
      },
    ],
    next: "Restart Grok Build: grok",
  }),
  verify: [
    'grok -p "say hi" prints an answer, without a login.',
    "/model in Grok shows the gateway's models.",
  ],
};
