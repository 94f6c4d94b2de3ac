import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { toListenError } from "../../http/listen-error.ts";

/**
 * The port for all workers: a free one for 0. Throws when somebody else has it, which the workers would not notice, since
 * they share it.
 */
export async function findPort({ host, port }: { host: string; port: number }): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(toListenError(error, { host, port })));
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const { port: found } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return found;
}
