import type { PricedAnswer } from "./priced-answers.ts";

/**
 * Prices in US dollars per million tokens: https://ai.google.dev/gemini-api/docs/pricing. Flex costs half.
 *
 * - 2.5 Flash: 0.30 input, 0.03 cached input, 2.50 output, 1 audio input, 0.10 cached audio input
 * - 2.5 Pro: 1.25 input, 10 output, and above 200k tokens 2.50 input, 15 output
 */
export const gemini: PricedAnswer[] = [
  google("gemini-2.5-flash", [1_000, 200], "0.00155", { thoughtsTokenCount: 300 }),
  google("gemini-2.5-flash", [1_000, 200], "0.000775", { thoughtsTokenCount: 300, serviceTier: "flex" }),
  google("gemini-2.5-flash", [1_000, 200], "0.000775", {
    thoughtsTokenCount: 300,
    trafficType: "ON_DEMAND_FLEX",
  }),
  google("gemini-2.5-flash", [1_000, 100], "0.00111", {
    promptTokensDetails: modalities({ TEXT: 200, AUDIO: 800 }),
  }),
  google("gemini-2.5-flash", [1_000, 100], "0.000723", {
    promptTokensDetails: modalities({ TEXT: 200, AUDIO: 800 }),
    cachedContentTokenCount: 500,
    cacheTokensDetails: modalities({ TEXT: 100, AUDIO: 400 }),
  }),
  google("gemini-2.5-flash", [100, 100], "0.00055", { toolUsePromptTokenCount: 900 }),
  google("gemini-2.5-pro", [250_000, 1_000], "0.64"),
  google("gemini-2.5-pro", [200_000, 1_000], "0.26"),
  google("gemini-2.5-pro", [1_290, 50], "0.0036125", {
    thoughtsTokenCount: 150,
    promptTokensDetails: modalities({ TEXT: 258, IMAGE: 1_032 }),
  }),
  // Prices: 0.30 input, 30 image output.
  google("gemini-2.5-flash-image", [10, 1_290], "0.038703", {
    candidatesTokensDetails: modalities({ IMAGE: 1_290 }),
  }),
  // Prices: 0.50 input, 3 output.
  google("gemini-3-flash-preview", [2_000, 100], "0.0013", {
    promptTokensDetails: modalities({ TEXT: 100, VIDEO: 1_900 }),
  }),
];

function google(model: string, [prompt, output]: [number, number], usd: string, more = {}): PricedAnswer {
  return { model, usage: { promptTokenCount: prompt, candidatesTokenCount: output, ...more }, usd };
}

function modalities(counts: Record<string, number>) {
  return Object.entries(counts).map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
