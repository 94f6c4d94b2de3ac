import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { GatewayError } from "./errors.ts";
import type { Runtime } from "./runtime.ts";
import { createServices, type Services } from "./services.ts";
import { answerMalformed } from "./v1/answer-malformed.ts";
import type { Readiness } from "./v1/health.ts";

export type RunningGateway = {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  url: string;
  /** As people reach it. */
  publicUrl: string;
  services: Services;
  /** Lets requests under way finish, as long as the drain limit allows, then stops. */
  close(): Promise<void>;
};

/** Starts everything. Throws, with nothing left running, when the database or the port cannot be had. */
export async function startGateway(config: Config, runtime: Runtime): Promise<RunningGateway> {
  const services = await createServices(config, runtime);
  const { limits } = config;
  const readiness: Readiness = { isReady: true, trouble: services.trouble };
  try {
    const server = createHttpServer(
      config,
      runtime,
      createApp({ services, publicUrl: config.publicUrl, readiness }),
    );
    await listen(server, config);
    const url = urlOf(server, config.host);
    const close = async () => {
      readiness.isReady = false;
      await stop(server, services, limits.drainTimeoutMs);
      await services.close();
    };
    return { url, publicUrl: config.publicUrl ?? url, services, close };
  } catch (error) {
    await services.close();
    throw error;
  }
}

function createHttpServer({ limits }: Config, runtime: Runtime, app: RequestListener): Server {
  const options = {
    headersTimeout: limits.requestHeadersTimeoutMs,
    requestTimeout: limits.requestReceiveTimeoutMs,
    // By default longer than the usual minute of load balancers, so that it is they who close idle connections.
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: 1_000,
    requireHostHeader: false,
  };
  const server = createServer(options, app);
  server.on("clientError", answerMalformed(runtime));
  // What a client expects beyond "100-continue" is not refused, but not promised either.
  server.on("checkExpectation", app);
  return server;
}

function listen(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

async function stop(server: Server, { openExchanges }: Services, drainTimeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const isStopping = new GatewayError(
    "service_unavailable",
    "The gateway is stopping. Send the request again.",
    {
      retryAfterSeconds: 1,
    },
  );
  await openExchanges.drain(drainTimeoutMs, isStopping);
  // What was answered is still on its way to clients that keep their connections open.
  const closing = setInterval(() => server.closeIdleConnections(), 20);
  const giveUp = setTimeout(() => server.closeAllConnections(), lastBytesTimeoutMs);
  await closed;
  clearInterval(closing);
  clearTimeout(giveUp);
}

const lastBytesTimeoutMs = 2_000;
