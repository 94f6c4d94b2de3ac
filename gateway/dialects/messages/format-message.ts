import { isObject } from "../../wire/json.ts";
import type { AnswerEnvelope } from "../dialect.ts";
import { formatUsage } from "./format-usage.ts";
import { type StopReason, toStopDetails } from "./to-stop-reason.ts";

/** https://platform.claude.com/docs/en/api/messages/create */
export function formatMessage(
  envelope: AnswerEnvelope,
  { content, stopReason, usage }: { content: object[]; stopReason: StopReason | null; usage: unknown },
): object {
  return {
    id: `msg_${toBareId(envelope)}`,
    type: "message",
    role: "assistant",
    model: envelope.slug,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: stopReason === null ? null : toStopDetails(stopReason),
    usage: formatUsage(usage),
  };
}

/** The request's ID without its prefix. Other IDs derive from it. */
export function toBareId({ id }: AnswerEnvelope): string {
  return id.replace(/^req_/, "");
}

/**
 * Whether the client can handle thinking blocks. Newer Claudes think by default. A client that disabled
 * thinking may expect text in the first block.
 */
export function showsThoughts({ thinking }: Record<string, unknown>): boolean {
  return !isObject(thinking) || thinking["type"] !== "disabled";
}
