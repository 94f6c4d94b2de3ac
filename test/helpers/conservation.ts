import type { Candidate } from "../../gateway/routing/candidate.ts";
import type { Services } from "../../gateway/services.ts";
import { Attempts } from "../../gateway/routing/attempts.ts";
import { recordedRequests } from "./recorded-requests.ts";

/**
 * Counts admitted requests and upstream calls. Once the gateway has closed, the returned function throws unless the
 * usage records match both counts.
 */
export function watchConservation(
  { openExchanges, upstreams }: Pick<Services, "openExchanges" | "upstreams">,
  databaseUrl: string,
): () => Promise<void> {
  const letIn = new Map<string, { candidate: Candidate | null }>();
  let calls = 0;
  const { add } = openExchanges;
  openExchanges.add = (exchange) => {
    const seen = exchange as typeof exchange & { id: string; candidate: Candidate | null };
    letIn.set(seen.id, seen);
    add.call(openExchanges, exchange);
  };
  const { call } = upstreams;
  upstreams.call = (endpoint, body, timeouts, events) => {
    // Provider tests and token counts also make upstream calls, but write no usage records.
    if (events instanceof Attempts) calls++;
    return call.call(upstreams, endpoint, body, timeouts, events);
  };
  return async () => {
    if (letIn.size === 0) return;
    // Other gateways may share the database.
    const records = (await recordedRequests(databaseUrl)).filter(({ id }) => letIn.has(id));
    const attempts = records.reduce((sum, record) => sum + record.attempts, 0);
    if (records.length === letIn.size && attempts === calls) return;
    const seen = `${letIn.size} requests were let in, with ${calls} calls of upstreams`;
    throw new Error(`${seen}, but there are ${records.length} records with ${attempts} attempts.`);
  };
}
