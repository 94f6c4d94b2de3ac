import { failureWords } from "#lib/usage/error-reasons.ts";
import type { AttemptTiming, UsageRecord } from "#lib/usage/usage-record.ts";

export type Phase = {
  kind: "wait" | "failed" | "first" | "output";
  label: string;
  /** The provider and model of the attempt, shown below the label. */
  target: string | null;
  startMs: number;
  durationMs: number;
};

type TimedRecord = Pick<
  UsageRecord,
  "timing" | "attempts" | "latencyMs" | "timeToFirstTokenMs" | "status" | "errorReason"
>;

/** The phases of a request in order, as far as their times are recorded. */
export function phasesOf(record: TimedRecord): Phase[] {
  const { timing, attempts: total, latencyMs, timeToFirstTokenMs, status, errorReason } = record;
  const phases: Phase[] = [];
  const add = (kind: Phase["kind"], label: string, from: number, to: number, target: string | null = null) =>
    phases.push({ kind, label, target, startMs: from, durationMs: Math.max(0, to - from) });
  const addWait = (label: string, from: number, to: number) => {
    if (to - from >= waitMsMin) add("wait", label, from, to);
  };

  const attempts = timing?.attempts ?? [];
  let endMs = 0;
  if (timing) {
    addWait("Upload", 0, timing.receivedMs);
    endMs = timing.receivedMs;
  }
  let answering: AttemptTiming | null = null;
  for (const [index, attempt] of attempts.entries()) {
    addWait(index === 0 ? "Queue" : "Wait before retry", endMs, attempt.startMs);
    endMs = attempt.startMs + attempt.durationMs;
    if (attempt.failure === null) answering = attempt;
    else
      add(
        "failed",
        `Attempt ${index + 1}: ${wordsFor(attempt.failure)}`,
        attempt.startMs,
        endMs,
        targetOf(attempt),
      );
  }
  if (timing && answering === null) {
    addWait(total > attempts.length ? "Later attempts" : "Wait before retry", endMs, latencyMs);
    return phases;
  }
  const startMs = answering?.startMs ?? 0;
  const target = answering && targetOf(answering);
  const label = answering ? `Attempt ${attempts.length}` : "";
  if (status === "FAILED" && timeToFirstTokenMs === null) {
    const why = errorReason && wordsFor(errorReason);
    add("failed", [label || "Total", why].filter(Boolean).join(": "), startMs, latencyMs, target);
  } else if (timeToFirstTokenMs === null) add("output", label || "Total", startMs, latencyMs, target);
  else {
    const first = attempts.length > 1 ? `${label}: time to first token` : "Time to first token";
    add("first", first, startMs, timeToFirstTokenMs, target);
    add("output", "Output", timeToFirstTokenMs, latencyMs);
  }
  return phases;
}

const targetOf = ({ provider, model }: AttemptTiming) => `${provider} / ${model}`;

/** Formats "http_429" as "HTTP 429". */
function wordsFor(failure: string): string {
  const [, status] = /^http_(\d+)$/.exec(failure) ?? [];
  return status ? `HTTP ${status}` : (failureWords(failure) ?? failure);
}

/** Shorter waits are omitted as negligible. */
const waitMsMin = 10;
