import type { ReasoningDetail } from "./chat-completion.ts";
import { isObject, listOf } from "./json.ts";

/**
 * The valid reasoning details of a list, which may contain any JSON.
 * @param unknownFormat format of details without one. If it is missing, they are dropped.
 */
export function readReasoningDetails(details: unknown, unknownFormat?: string): ReasoningDetail[] {
  return listOf(details).flatMap((value) => {
    const { type, format = unknownFormat, ...detail } = readPartialDetail(value);
    return type === undefined || format === undefined ? [] : [{ type, format, ...detail }];
  });
}

/** The valid members of a reasoning detail. */
export function readPartialDetail(value: unknown): Partial<ReasoningDetail> {
  if (!isObject(value)) return {};
  const { type, index } = value;
  const texts = (["format", "id", "text", "signature", "data", "summary"] as const).flatMap((name) => {
    const text = value[name];
    return typeof text === "string" ? [[name, text] as const] : [];
  });
  return {
    ...(isType(type) && { type }),
    ...(typeof index === "number" && { index }),
    ...Object.fromEntries(texts),
  };
}

function isType(type: unknown): type is ReasoningDetail["type"] {
  return type === "reasoning.text" || type === "reasoning.encrypted" || type === "reasoning.summary";
}
