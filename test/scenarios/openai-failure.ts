import { APIError, BadRequestError, InternalServerError, NotFoundError, RateLimitError } from "openai";
import { ScenarioFailure } from "./scenario-client.ts";

/** What OpenAI's SDK threw, as a failure of the scenario; what is no error of the API stays as it is. */
export function toOpenAiFailure(error: unknown, text: string[]): unknown {
  if (!(error instanceof APIError)) return error;
  if (error.status === undefined) return new ScenarioFailure(null, error.message, text);
  // The SDK has a class for each; what a program catches must be the right one.
  const isRight = error instanceof (errorClasses[error.status] ?? InternalServerError);
  return new ScenarioFailure(isRight ? error.status : null, error.message, text);
}

const errorClasses: Record<number, typeof BadRequestError | typeof NotFoundError | typeof RateLimitError> = {
  400: BadRequestError,
  404: NotFoundError,
  429: RateLimitError,
};
