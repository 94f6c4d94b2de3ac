import { sharedByFile } from "../helpers/shared-by-file.ts";
import { type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { type Connection, connectVendor, type Script } from "./connect-vendor.ts";
import type { Vendor } from "./vendors.ts";

/**
 * Shares one vendor upstream among a file's serial tests. The returned function clears the upstream's lists
 * and sets a new script.
 */
export function shareVendor(
  gateway: () => TestGateway,
  vendor: Vendor,
): (script: Script) => Promise<SharedConnection> {
  const owner = sharedByFile();
  let script: Script = () => {
    throw new Error("No test has given a script.");
  };
  let connecting: Promise<Connection> | undefined;
  return async (next) => {
    connecting ??= connectVendor(owner, gateway(), vendor, (asked) => script(asked));
    const connection = await connecting;
    const { upstream, keyId } = connection;
    script = next;
    for (const list of [upstream.asked, upstream.refusals, upstream.abandoned]) list.length = 0;
    const newest = () => usageOf(gateway(), keyId, recordsMax);
    const before = new Set((await newest()).map(({ id }) => id));
    const newRecords = async () => (await newest()).filter(({ id }) => !before.has(id));
    return { ...connection, newRecords };
  };
}

/** More records than a test makes. */
const recordsMax = 10;

export type SharedConnection = Connection & {
  newRecords(): ReturnType<typeof usageOf>;
};
