import type { ShownError, StreamWriter } from "../dialect.ts";
import { ResponseStreamWriter } from "./response-stream-writer.ts";

/** https://platform.openai.com/docs/guides/error-codes */
export function formatError({ message, type, param, code }: ShownError): object {
  return { error: { message, type, param, code } };
}

/**
 * An error as the last events of a stream. Of a stream that an upstream has written nothing is known here: neither how many
 * events it had, nor the id, the time and the model of its response.
 */
export function formatErrorEvent(error: ShownError, writer: StreamWriter | null): string {
  if (writer instanceof ResponseStreamWriter) return writer.fail(error);
  const envelope = { id: error.requestId, createdSeconds: 0, slug: "" };
  return new ResponseStreamWriter(envelope, { body: {} }).fail(error);
}
