import { once } from "node:events";
import { createServer } from "node:net";

/** Returns a port that was free a moment ago, for servers that cannot select one themselves. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === "string") throw new Error("The probe has no port");
  return address.port;
}
