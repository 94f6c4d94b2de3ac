import { type Json, keyPlaceholder } from "../setup-plan.ts";
import type { SetupModel } from "../setup-input.ts";
import type { ToolSetup } from "../tool-setup.ts";

/** https://docs.factory.ai/model-independence/byok */
export const droid: ToolSetup = {
  name: "Factory Droid",
  checkedWith: { version: "0.215.0", month: "November 2026" },
  dialect: "chat",
  workloads: ["daily", "hard"],
  plan: ({ baseUrl, models }) => ({
    program: "droid",
    install: "npm install -g droid",
    files: [
      {
        folder: { variable: null, home: [".factory"] },
        path: ["settings.json"],
        format: "json",
        operations: [
          {
            do: "replaceEntries",
            path: ["customModels"],
            member: "baseUrl",
            is: `${baseUrl}/v1`,
            entries: models.connected.map((model) => toEntry(model, baseUrl)),
          },
          { do: "set", path: ["sessionDefaultSettings", "model"], value: idOf(models.daily) },
          { do: "set", path: ["sessionDefaultSettings", "specModeModel"], value: idOf(models.hard) },
        ],
      },
    ],
    next: "Restart Droid: droid",
  }),
  verify: [
    'droid exec "say hi" prints an answer.',
    "/model in Droid shows the gateway's models under Custom models.",
    "Spec mode (Shift+Tab) uses the model for hard tasks.",
  ],
  notes: () => [
    "Droid requires a Factory login when it first starts interactively. droid exec works without one.",
  ],
};

function toEntry(model: SetupModel, baseUrl: string): Json {
  const { slug, outputTokensMax } = model;
  return {
    id: idOf(model),
    model: slug,
    displayName: slug,
    baseUrl: `${baseUrl}/v1`,
    apiKey: keyPlaceholder,
    provider: "generic-chat-completion-api",
    ...(outputTokensMax !== null && { maxOutputTokens: outputTokensMax }),
  };
}

function idOf({ slug }: SetupModel): string {
  return `custom:gateway/${slug}`;
}
