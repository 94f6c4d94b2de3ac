import type { GatewayError } from "../errors.ts";
import type { Exchange } from "./exchange.ts";

/** Whether another candidate now answers in place of a failed answer. The client must not have received a byte. */
export function divert(exchange: Exchange, error: GatewayError): boolean {
  const { isOver, reply, call } = exchange;
  return error.withoutAnswer !== null && !isOver && !reply.hasBegun && call?.divert(error) === true;
}

export function failOrDivert(exchange: Exchange, error: GatewayError): void {
  if (!divert(exchange, error)) exchange.fail(error);
}
