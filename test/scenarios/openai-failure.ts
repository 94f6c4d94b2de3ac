import { APIError, BadRequestError, InternalServerError, NotFoundError, RateLimitError } from "openai";
import { ScenarioFailure } from "./scenario-client.ts";

export function toOpenAiFailure(error: unknown, text: string[]): unknown {
  if (!(error instanceof APIError)) return error;
  if (error.status === undefined) return new ScenarioFailure(null, error.message, text);
  // Programs distinguish errors by class, so the class must be correct.
  const isRight = error instanceof (errorClasses[error.status] ?? InternalServerError);
  return new ScenarioFailure(isRight ? error.status : null, error.message, text);
}

const errorClasses: Record<number, typeof BadRequestError | typeof NotFoundError | typeof RateLimitError> = {
  400: BadRequestError,
  404: NotFoundError,
  429: RateLimitError,
};
