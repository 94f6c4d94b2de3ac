import { readChatRequest } from "../dialects/chat/read-chat-request.ts";
import { callModel } from "./call-model.ts";
import { chatClientForm } from "./chat-client-form.ts";
import { toEnvelope } from "./client-form.ts";
import type { CompleteOptions } from "./complete-options.ts";
import type { Exchange } from "./exchange.ts";
import { prepareChat } from "./prepare-chat.ts";
import { readRequest } from "./read-request.ts";

/**
 * The way of every chat completion: read what is asked, decide where it goes, call, relay. What comes back arrives at the
 * relay of the attempt that answers, which ends the exchange. Throws a `GatewayError` for a request that cannot be made.
 */
export function complete(options: CompleteOptions, exchange: Exchange, bytes: Buffer): void {
  const request = readRequest(options, exchange, bytes, readChatRequest);
  const { body, includeUsage } = request.value;
  const slug = body.model;
  const { upstreamEventBytesMax: eventBytesMax } = options.limits;
  const clientForm = chatClientForm(toEnvelope(exchange, slug), { includeUsage, eventBytesMax });
  callModel(options, exchange, slug, (way) =>
    prepareChat({ options, exchange, request: request.value, clientForm, slug }, way),
  );
  request.letGo();
}
