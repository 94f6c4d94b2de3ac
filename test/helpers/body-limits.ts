import type { BodyLimits } from "../../gateway/dialects/parse-body.ts";
import { limitVariables } from "../../gateway/config/limit-variables.ts";

export const bodyLimits: BodyLimits = {
  requestTextBytesMax: limitVariables.requestTextBytesMax.value,
  requestJsonDepthMax: limitVariables.requestJsonDepthMax.value,
  requestJsonValuesMax: limitVariables.requestJsonValuesMax.value,
};

export const anySize: BodyLimits = {
  ...bodyLimits,
  requestTextBytesMax: Infinity,
  requestJsonValuesMax: Infinity,
};
