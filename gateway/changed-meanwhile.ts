import { GatewayError } from "./errors.ts";

/** What an edit of a revision that is not the current one is told: somebody else was faster, and nothing was changed. */
export function changedMeanwhile(what: string, currentRevision: number): GatewayError {
  const message = `The ${what} was changed meanwhile. Look at what it is now, then change it again.`;
  return new GatewayError("conflict", message, { param: "revision", currentRevision });
}
