import type { SetupModel, SetupModels } from "../../gateway/setup/setup-input.ts";

export function setupModel(slug: string, facts: Partial<SetupModel> = {}): SetupModel {
  return {
    slug,
    contextWindow: 200_000,
    outputTokensMax: 32_000,
    inputPrice: 1,
    outputPrice: 5,
    canCallTools: true,
    isDemo: false,
    aiSdkName: null,
    dialects: ["chat"],
    ...facts,
  };
}

/** The key is connected to the three selected models and one more. */
export function setupModels(slugs: Partial<Record<"light" | "daily" | "hard", string>> = {}): SetupModels {
  const light = setupModel(slugs.light ?? "openai/gpt-5-mini");
  const daily = setupModel(slugs.daily ?? "qwen/qwen3-coder:free");
  const hard = setupModel(slugs.hard ?? "anthropic/claude-opus-5.5", { dialects: ["messages"] });
  return { light, daily, hard, connected: [light, daily, hard, setupModel("local/llama-4@q8")] };
}

export const keyValue = `sk-gateway-${"0123456789".repeat(4)}AbCdEfGhI`;
