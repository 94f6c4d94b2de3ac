import type { BodyLimits } from "../../gateway/dialects/parse-body.ts";
import { limitVariables } from "../../gateway/config/limit-variables.ts";

/** What bodies may have at most by default. */
export const bodyLimits: BodyLimits = {
  requestTextBytesMax: limitVariables.requestTextBytesMax.value,
  requestJsonDepthMax: limitVariables.requestJsonDepthMax.value,
  requestJsonValuesMax: limitVariables.requestJsonValuesMax.value,
};

/** For what is about large bodies themselves. */
export const anySize: BodyLimits = {
  ...bodyLimits,
  requestTextBytesMax: Infinity,
  requestJsonValuesMax: Infinity,
};
