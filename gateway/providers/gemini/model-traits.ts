/** Only a model's name reveals these differences. */
export type ModelTraits = {
  /** Thinking has a token budget. Other models accept a level, and may reject a budget. */
  thinksByBudget: boolean;
  /** The model's reasoning cannot be turned off. */
  cannotStopThinking: boolean;
  /** The model rejects function calls that return without their signatures. */
  needsSignatures: boolean;
  /** The model accepts images and files inside a function's result. */
  takesMediaInResults: boolean;
  takesSystemInstruction: boolean;
};

/**
 * Unknown names, and aliases like `gemini-flash-latest`, count as the newest. Sources:
 * https://ai.google.dev/gemini-api/docs/thinking, https://ai.google.dev/gemini-api/docs/thought-signatures and
 * https://ai.google.dev/gemma/docs/core/prompt-structure (Gemma 3: no system instructions).
 */
export function modelTraits(modelName: string): ModelTraits {
  const name = bareModelName(modelName).toLowerCase();
  const thinksByBudget = /^gemini-(2\.5|robotics-er-1\.5)\b/.test(name);
  const isGemini3OrLater = name.startsWith("gemini-") && !thinksByBudget && !/^gemini-[12][.-]/.test(name);
  return {
    thinksByBudget,
    cannotStopThinking: /^gemini-2\.5-pro\b/.test(name),
    needsSignatures: isGemini3OrLater,
    takesMediaInResults: isGemini3OrLater,
    takesSystemInstruction: !/^gemma-3n?\b/.test(name),
  };
}

/** Returns a model's path below the base URL. Google writes its name with and without `models/`. */
export function modelPath(name: string): string {
  return `/models/${encodeURIComponent(bareModelName(name).toWellFormed())}`;
}

export function bareModelName(name: string): string {
  return name.replace(/^models\//, "");
}
