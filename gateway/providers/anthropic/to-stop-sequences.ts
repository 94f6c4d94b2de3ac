import { unsupported } from "../../wire/unsupported.ts";
import { expectString } from "../../wire/expect-type.ts";

export function toStopSequences(stop: unknown): string[] | undefined {
  if (stop === undefined || stop === null) return undefined;
  const sequences = Array.isArray(stop)
    ? stop.map((sequence, index) => expectString(sequence, `stop[${index}]`))
    : [expectString(stop, "stop")];
  // The API answers 400: "each stop sequence must contain non-whitespace".
  if (sequences.some((sequence) => sequence.trim() === "")) {
    throw unsupported("stop", "Claude cannot stop at white space alone.");
  }
  return sequences.length > 0 ? sequences : undefined;
}
