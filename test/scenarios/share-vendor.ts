import { sharedByFile } from "../helpers/shared-by-file.ts";
import { type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { type Connection, connectVendor, type Script } from "./connect-vendor.ts";
import type { Vendor } from "./vendors.ts";

/**
 * One upstream of a vendor for the tests of a file that run one after the other, because to connect one takes longer than
 * all that a test does with it. What it returns prepares it for a test: with a script, and with nothing asked yet.
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
    const before = new Set((await usageOf(gateway(), keyId)).map(({ id }) => id));
    const newRecords = async () => (await usageOf(gateway(), keyId)).filter(({ id }) => !before.has(id));
    return { ...connection, newRecords };
  };
}

export type SharedConnection = Connection & {
  /** The usage records of this test. */
  newRecords(): ReturnType<typeof usageOf>;
};
