import type { ReadMetric } from "../../metrics/metrics.ts";

export type FromWorker =
  /** The worker accepts requests. */
  { kind: "started"; welcome: string } | { kind: "metrics"; metrics: ReadMetric[] };

export type ToWorker =
  /** The worker finishes open requests, then exits. */
  { kind: "stop" } | { kind: "metrics" };
