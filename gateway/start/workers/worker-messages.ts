import type { ReadMetric } from "../../metrics/metrics.ts";

/** A worker's messages to the primary. */
export type FromWorker =
  /** The worker accepts requests. */
  | { kind: "started"; welcome: string }
  /** The reply to a `metrics` request. */
  | { kind: "metrics"; metrics: ReadMetric[] };

/** The primary's messages to a worker. */
export type ToWorker =
  /** Lets the open requests finish, then exits. */
  | { kind: "stop" }
  /** Requests the metrics of the worker. */
  | { kind: "metrics" };
