import type { Candidate } from "../../gateway/routing/candidate.ts";
import type { Services } from "../../gateway/services.ts";
import { Attempts } from "../../gateway/routing/attempts.ts";
import { recordedRequests } from "./recorded-requests.ts";

/**
 * Watches what a gateway lets in and whom it calls. Asked when the gateway has stopped, it compares that with the usage
 * records: one for each request, with all its calls. Throws where they differ.
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
    // Providers are also called to be tested, and to count.
    if (events instanceof Attempts) calls++;
    return call.call(upstreams, endpoint, body, timeouts, events);
  };
  return async () => {
    if (letIn.size === 0) return;
    // Other gateways may use the same database.
    const records = (await recordedRequests(databaseUrl)).filter(({ id }) => letIn.has(id));
    const attempts = records.reduce((sum, record) => sum + record.attempts, 0);
    if (records.length === letIn.size && attempts === calls) return;
    const seen = `${letIn.size} requests were let in, with ${calls} calls of upstreams`;
    throw new Error(`${seen}, but there are ${records.length} records with ${attempts} attempts.`);
  };
}
