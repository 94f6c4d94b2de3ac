import type { GatewayError } from "../../errors.ts";
import type { UsageRecord } from "./record-format.ts";

/** What a record says of how its request failed. */
export type FailureColumns = Pick<UsageRecord, "errorCode" | "limitedBy" | "errorReason">;

export const noFailure: FailureColumns = { errorCode: null, limitedBy: null, errorReason: null };

/** Of a request whose process died. */
export const gatewayDied: FailureColumns = { ...noFailure, errorCode: "gateway_died" };

/** The code is the upstream's own where it is its error to report; everything else is said in words of ours. */
export function toFailureColumns({ code, upstream, limitedBy, reason }: GatewayError): FailureColumns {
  return { errorCode: upstream?.code ?? code, limitedBy, errorReason: reason };
}
