import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { TracingConfig } from "../config/tracing-variables.ts";

/** Which requests are traced; `parentbased_` does as the client's `traceparent` says, where there is one. */
export function createSampler({
  sampler,
  sampledShare,
}: Pick<TracingConfig, "sampler" | "sampledShare">): Sampler {
  const root = () => new TraceIdRatioBasedSampler(sampledShare);
  const samplers: Record<TracingConfig["sampler"], () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: root,
    parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
    parentbased_traceidratio: () => new ParentBasedSampler({ root: root() }),
  };
  return samplers[sampler]();
}
