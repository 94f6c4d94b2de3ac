import { sharedByFile } from "../helpers/shared-by-file.ts";
import type { TestGateway } from "../helpers/test-gateway.ts";
import { connectToolUpstream, type ToolConnection } from "./connect-tool-upstream.ts";
import type { ToolUpstream } from "./tool-upstreams.ts";

/** Returns a function that shares one connection per upstream and clears the connection's lists on each call. */
export function shareToolUpstreams(
  gateway: () => TestGateway,
): (upstream: ToolUpstream) => Promise<ToolConnection> {
  const owner = sharedByFile();
  const connections = new Map<ToolUpstream, Promise<ToolConnection>>();
  return async (upstream) => {
    const connecting = connections.get(upstream) ?? connectToolUpstream(owner, gateway(), upstream);
    connections.set(upstream, connecting);
    const connection = await connecting;
    const { asked, refusals, abandoned } = connection.upstream;
    const { gatewayLog, faults, upgrades, relayed } = connection;
    for (const list of [asked, refusals, abandoned, gatewayLog, faults, upgrades, relayed]) list.length = 0;
    await connection.newRecords();
    return connection;
  };
}
