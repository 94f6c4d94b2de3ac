import { createHash } from "node:crypto";
import { expectString } from "../../wire/expect-type.ts";
import type { ModelFamily } from "./model-family.ts";

/**
 * The id of a tool call in a form that the model takes. Some do not take even those they give (Kimi's
 * `functions.get_weather:0`), so others are replaced by a hash: the same for the call and for its result.
 */
export function toToolUseId(id: unknown, param: string, { name }: ModelFamily): string {
  const text = expectString(id, param);
  const isTaken = (name === "mistral" ? mistralToolUseId : toolUseId).test(text);
  return isTaken ? text : createHash("sha256").update(text).digest("hex").slice(0, 9);
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html */
const toolUseId = /^[a-zA-Z0-9_-]{1,64}$/;

/** Mistral's chat template refuses all others. */
const mistralToolUseId = /^[a-zA-Z0-9]{9}$/;
