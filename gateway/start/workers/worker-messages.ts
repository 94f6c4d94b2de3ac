import type { ReadMetric } from "../../metrics/metrics.ts";

export type FromWorker = { kind: "started"; welcome: string } | { kind: "metrics"; metrics: ReadMetric[] };

export type ToWorker = { kind: "stop" } | { kind: "metrics" };
