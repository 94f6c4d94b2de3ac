import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { formatUrl, toListenError } from "../http/server-address.ts";
import type { Log } from "../log.ts";
import type { MetricsPage } from "./metrics.ts";

type MetricsServerOptions = { host: string; port: number; log: Log; print(): Promise<MetricsPage> };

export type MetricsServer = { url: string; close(): Promise<void> };

/** Serves only `/metrics`. A separate port can be kept private. */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { host, port, log, print } = options;
  const server = createServer(async (request, response) => {
    if (request.url !== "/metrics" || request.method !== "GET") return void response.writeHead(404).end();
    try {
      const { contentType, text } = await print();
      response.writeHead(200, { "content-type": contentType }).end(text);
    } catch (error) {
      log.error({ error }, "cannot collect the metrics");
      response.writeHead(500).end();
    }
  });
  server.headersTimeout = requestTimeoutMs;
  server.requestTimeout = requestTimeoutMs;
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => reject(toListenError(error, { host, port }, "METRICS_"));
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      resolve();
    });
  });
  const { port: boundPort } = server.address() as AddressInfo;
  return {
    url: `${formatUrl(host, boundPort)}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const requestTimeoutMs = 10_000;
