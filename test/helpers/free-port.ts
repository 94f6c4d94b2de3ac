import { once } from "node:events";
import { createServer } from "node:net";

/** A port that was free a moment ago: where nobody listens, or for servers that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === "string") throw new Error("The probe has no port");
  return address.port;
}
