import { isObject } from "../../wire/chat-completion.ts";

/**
 * The foundation models that can be asked for text or embeddings without a capacity of one's own. Some of them can be asked
 * only by the name of an inference profile, which is theirs with the name of a geography before it (`us.anthropic.…`).
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html
 */
export function readModelNames(list: unknown): string[] | null {
  const summaries = isObject(list) ? list["modelSummaries"] : null;
  if (!Array.isArray(summaries)) return null;
  return summaries.flatMap((summary: unknown) => {
    if (!isObject(summary) || typeof summary["modelId"] !== "string") return [];
    const { modelId, outputModalities, inferenceTypesSupported } = summary;
    const isOfUse =
      hasOneOf(outputModalities, ["TEXT", "EMBEDDING"]) &&
      hasOneOf(inferenceTypesSupported, ["ON_DEMAND", "INFERENCE_PROFILE"]);
    return isOfUse ? modelId : [];
  });
}

function hasOneOf(list: unknown, names: string[]): boolean {
  return Array.isArray(list) && list.some((name) => names.includes(name));
}
