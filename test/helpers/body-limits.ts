import type { BodyLimits } from "../../gateway/dialects/parse-body.ts";
import { readConfig } from "../../gateway/config/config.ts";

const { limits } = readConfig({});

export const bodyLimits: BodyLimits = {
  requestTextBytesMax: limits.requestTextBytesMax,
  requestJsonDepthMax: limits.requestJsonDepthMax,
  requestJsonValuesMax: limits.requestJsonValuesMax,
};

export const anySize: BodyLimits = {
  ...bodyLimits,
  requestTextBytesMax: Infinity,
  requestJsonValuesMax: Infinity,
};
