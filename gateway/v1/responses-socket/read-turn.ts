import { type BodyLimits, parseBody } from "../../dialects/parse-body.ts";
import { GatewayError } from "../../errors.ts";

/** One `response.create` event of a client. */
export type Turn = {
  /** Turns with the same ID run one after another. Null if the client sent none. */
  streamId: string | null;
  /** The body of the equivalent streamed HTTP request. */
  bytes: Buffer;
  /** Whether the turn only sends its input ahead and expects no answer. */
  isWarmUp: boolean;
};

/**
 * Reads a message in OpenAI's form. Throws a `GatewayError` for any other.
 * https://developers.openai.com/api/docs/guides/websocket-mode
 */
export function readTurn(message: Buffer, limits: BodyLimits): Turn {
  const parsed = parseBody(message, limits, () => {});
  const { type, stream_id: streamId = null, generate, ...body } = parsed;
  if (type !== "response.create") {
    const text = "Invalid value: 'type'. The gateway reads only events of the type 'response.create'.";
    throw new GatewayError("invalid_value", text, { param: "type" });
  }
  if (streamId !== null && (typeof streamId !== "string" || streamId.length > streamIdCharactersMax)) {
    const text = `Invalid value: 'stream_id'. Use a string of at most ${streamIdCharactersMax} characters.`;
    throw new GatewayError("invalid_value", text, { param: "stream_id" });
  }
  const bytes = Buffer.from(JSON.stringify({ ...body, stream: true }));
  return { streamId, bytes, isWarmUp: generate === false };
}

const streamIdCharactersMax = 128;
