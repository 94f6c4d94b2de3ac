import type { TokenUsage } from "../../wire/token-usage.ts";
import type { PriceComponent } from "../../../db/entities/price-details.ts";

export type UsagePart = { component: PriceComponent; quantity: number };

/**
 * Every token belongs to exactly one part. Input parts come first. Null if the input or output count is
 * unknown.
 */
export function usageParts(usage: TokenUsage): UsagePart[] | null {
  const { inputTokens, outputTokens, details = {} } = usage;
  if (inputTokens === null || outputTokens === null) return null;
  const input = new Remainder(inputTokens);
  const cached = new Remainder(input.remove(usage.cachedInputTokens));
  const cachedImage = cached.remove(details.cachedImageInputTokens);
  const cachedAudio = cached.remove(details.cachedAudioInputTokens);
  const written = new Remainder(input.remove(usage.cacheWriteInputTokens));
  const written1h = written.remove(details.cacheWrite1hTokens);
  const image = input.remove((details.imageInputTokens ?? 0) - cachedImage);
  const audio = input.remove((details.audioInputTokens ?? 0) - cachedAudio);
  const output = new Remainder(outputTokens);
  const imageOutput = output.remove(details.imageOutputTokens);
  const audioOutput = output.remove(details.audioOutputTokens);
  const reasoning = output.remove(usage.reasoningTokens);
  const parts: [PriceComponent, number][] = [
    ["cachedInput", cached.left],
    ["cachedImageInput", cachedImage],
    ["cachedAudioInput", cachedAudio],
    ["cacheWrite", written.left],
    ["cacheWrite1h", written1h],
    ["imageInput", image],
    ["audioInput", audio],
    ["input", input.left],
    ["reasoning", reasoning],
    ["imageOutput", imageOutput],
    ["audioOutput", audioOutput],
    ["output", output.left],
    ["webSearch", details.webSearches ?? 0],
    ["request", 1],
  ];
  return parts.flatMap(([component, quantity]) => (quantity === 0 ? [] : { component, quantity }));
}

/** The rest of a count after its parts. Upstreams may report parts that exceed the count. */
class Remainder {
  left: number;

  constructor(count: number) {
    this.left = count;
  }

  remove(count: number | null | undefined): number {
    const removed = Math.min(Math.max(count ?? 0, 0), this.left);
    this.left -= removed;
    return removed;
  }
}
