import type { ReadMetric } from "../../metrics/metrics.ts";

/** What a worker tells its primary. */
export type FromWorker =
  /** It serves. */
  | { kind: "started"; welcome: string }
  /** What it was asked for. */
  | { kind: "metrics"; metrics: ReadMetric[] };

/** What the primary tells a worker. */
export type ToWorker =
  /** Finish the requests under way, then end. */
  | { kind: "stop" }
  /** Say what you have counted. */
  | { kind: "metrics" };
