import { type Json, keyPlaceholder, type PlannedFile } from "./setup-plan.ts";
import { setMembers } from "./tool-setup.ts";
import type { SetupModel, SetupModels } from "./setup-input.ts";

/** OpenCode and its fork Kilo Code read the same settings from different folders. */
export function openCodeFiles({ name, schema, baseUrl, models }: OpenCodeOptions): PlannedFile[] {
  return [
    {
      folder: { variable: "XDG_CONFIG_HOME", home: [".config"] },
      path: [name, `${name}.json`],
      beatenBy: `${name}.jsonc`,
      format: "jsonc",
      operations: [
        { do: "default", path: ["$schema"], value: schema },
        ...setMembers([], {
          model: `gateway/${models.daily.slug}`,
          small_model: `gateway/${models.light.slug}`,
        }),
        { do: "set", path: ["agent", "plan", "model"], value: `gateway/${models.hard.slug}` },
        ...setMembers(["provider", "gateway"], {
          npm: "@ai-sdk/openai-compatible",
          name: "Gateway",
        }),
        ...setMembers(["provider", "gateway", "options"], {
          baseURL: `${baseUrl}/v1`,
          // With this name, the adapter returns Gemini's thought signatures. Gemini rejects tool calls
          // without signatures.
          name: models.connected.find(({ aiSdkName }) => aiSdkName !== null)?.aiSdkName ?? null,
        }),
        // The tool offers only the models in this list, and does not request the gateway's list.
        { do: "set", path: ["provider", "gateway", "models"], value: listModels(models.connected) },
      ],
    },
    {
      folder: { variable: "XDG_DATA_HOME", home: [".local", "share"] },
      path: [name, "auth.json"],
      format: "json",
      operations: [{ do: "set", path: ["gateway"], value: { type: "api", key: keyPlaceholder } }],
    },
  ];
}

type OpenCodeOptions = { name: string; schema: string; baseUrl: string; models: SetupModels };

function listModels(models: SetupModel[]): Json {
  return Object.fromEntries(models.map((model) => [model.slug, limitsOf(model)]));
}

/** The tool accepts both numbers or neither. */
function limitsOf({ contextWindow, outputTokensMax }: SetupModel): Json {
  if (contextWindow === null || outputTokensMax === null) return {};
  return { limit: { context: contextWindow, output: outputTokensMax } };
}
