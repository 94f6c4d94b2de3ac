import type { ReadMetric } from "../../metrics/metrics.ts";

/** A worker's messages to the primary. */
export type FromWorker =
  /** The worker accepts requests. */
  | { kind: "started"; welcome: string }
  /** What it was asked for. */
  | { kind: "metrics"; metrics: ReadMetric[] };

/** The primary's messages to a worker. */
export type ToWorker =
  /** Finish the open requests, then exit. */
  | { kind: "stop" }
  /** Say what you have counted. */
  | { kind: "metrics" };
