import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Returns a port that was free a moment ago, for servers that cannot select one themselves.
 * @param preferred 0 for any port
 */
export async function freePort(preferred = 0): Promise<number> {
  const probe = createServer().listen(preferred, "127.0.0.1");
  try {
    await once(probe, "listening");
  } catch (error) {
    if (preferred === 0) throw error;
    return freePort();
  }
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === "string") throw new Error("The probe has no port");
  return address.port;
}
