import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createApp } from "../app.ts";
import { conversation } from "../completions/conversation.ts";
import type { Config } from "../config/config.ts";
import { responses } from "../dialects/responses/responses.ts";
import { GatewayError } from "../errors.ts";
import { formatUrl, toListenError } from "../http/server-address.ts";
import type { Settings } from "../config/variables.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { type MetricsServer, startMetricsServer } from "../metrics/metrics-server.ts";
import type { Runtime } from "../runtime.ts";
import { createServices, type Services } from "../services.ts";
import { answerMalformed } from "../v1/answer-malformed.ts";
import type { Readiness } from "../v1/health.ts";
import { ResponsesSockets } from "../v1/responses-socket/responses-sockets.ts";
import type { RequestObserver } from "../usage/request-observer.ts";

export type RunningGateway = {
  /** The listening address, such as `http://127.0.0.1:8080`. */
  url: string;
  publicUrl: string;
  services: Services;
  /** Null if metrics are off. */
  metrics: Metrics | null;
  /** Null if metrics are off, or if the primary serves them. */
  metricsUrl: string | null;
  /** Waits up to `drainTimeoutMs` for open requests, interrupts requests that remain, then stops. */
  close(): Promise<void>;
};

/**
 * Throws if the database or a port is unavailable.
 * @param isWorker whether workers share the port and the primary serves the metrics
 */
export async function startGateway(
  config: Config,
  runtime: Runtime,
  isWorker = false,
): Promise<RunningGateway> {
  const metrics = config.metrics && new (await import("../metrics/metrics.ts")).Metrics();
  const tracing =
    config.tracing && new (await import("../tracing/tracing.ts")).Tracing(config.tracing, runtime);
  const observer = joinObservers([metrics?.observer ?? null, tracing?.observer ?? null]);
  const services = await createServices(config, runtime, observer);
  metrics?.watch(services);
  const { limits, trustedProxies } = config;
  const sockets = new ResponsesSockets({ ...services, trustedProxies }, conversation(responses));
  let metricsServer: MetricsServer | null = null;
  const readiness: Readiness = { isReady: true, trouble: services.trouble };
  const app = closeConnectionsWhileStopping(readiness, createApp({ services, ...config, readiness }));
  const server = createHttpServer(config, { runtime, app, sockets });
  try {
    if (config.metrics && metrics && !isWorker) {
      const print = () => metrics.print();
      metricsServer = await startMetricsServer({ ...config.metrics, log: runtime.log, print });
    }
    await listen(server, config, isWorker);
    // Hashing the password takes a tenth of a start, so it follows the listener. Sign-ins wait for it.
    const { administrator } = config;
    if (administrator && (await services.accounts.createFirstAdministrator(administrator))) {
      runtime.log.info("created the administrator from ADMIN_EMAIL");
    }
    const url = formatUrl(config.host, (server.address() as AddressInfo).port);
    const close = async () => {
      readiness.isReady = false;
      // Load balancers poll /readyz and send requests until it fails.
      await wait(limits.stopDelayMs);
      sockets.end();
      await stop(server, sockets, services, limits);
      await services.close();
      await metricsServer?.close();
      await tracing?.close();
    };
    const metricsUrl = metricsServer?.url ?? null;
    return { url, publicUrl: config.publicUrl ?? url, services, metrics, metricsUrl, close };
  } catch (error) {
    server.close();
    server.closeAllConnections();
    sockets.close();
    await metricsServer?.close();
    await services.close();
    throw error;
  }
}

/** While the gateway stops, the response to each new request closes its connection. */
function closeConnectionsWhileStopping(readiness: Readiness, app: RequestListener): RequestListener {
  return (request, response) => {
    if (!readiness.isReady) response.shouldKeepAlive = false;
    app(request, response);
  };
}

type Served = { runtime: Runtime; app: RequestListener; sockets: ResponsesSockets };

function createHttpServer({ limits }: Config, { runtime, app, sockets }: Served): Server {
  const options = {
    headersTimeout: limits.requestHeadersTimeoutMs,
    requestTimeout: limits.requestReceiveTimeoutMs,
    // The default exceeds the usual idle timeout of load balancers (60 s), so that they close connections first.
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: 1_000,
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage) => sockets.accepts(request),
  };
  const server = createServer(options, app);
  server.on("clientError", answerMalformed(runtime));
  // An `Expect` header other than `100-continue` is ignored instead of rejected.
  server.on("checkExpectation", app);
  server.on("upgrade", (request, socket, head) => sockets.upgrade(request, socket, head));
  return server;
}

function listen(server: Server, { host, port }: Config, isWorker: boolean): Promise<void> {
  // On Linux, the kernel distributes connections. With Node's own distribution, connections to a killed worker
  // hang (seen in Node 24).
  const isShared = isWorker && process.platform === "linux";
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(toListenError(error, { host, port }));
    server.once("error", fail);
    server.listen({ port, host, reusePort: isShared, exclusive: isShared }, () => {
      server.off("error", fail);
      resolve();
    });
  });
}

async function stop(
  server: Server,
  sockets: ResponsesSockets,
  { openExchanges }: Services,
  { drainTimeoutMs, stopDelayMs }: Settings,
): Promise<void> {
  // The HTTP server's own `close` ends idle connections, on which a client may just have sent a request.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  const message = "The gateway is shutting down. Retry the request.";
  const isStopping = new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
  const deadline = performance.now() + drainTimeoutMs;
  do {
    await openExchanges.drain(Math.max(0, deadline - performance.now()), isStopping);
    // A client may send another request on its connection after a response.
    await wait(Math.min(stopDelayMs, lastRequestWaitMs));
  } while (openExchanges.count().requests > 0);
  sockets.close();
  // A connection with a response in flight becomes idle later, so this call repeats.
  server.closeIdleConnections();
  const closing = setInterval(() => server.closeIdleConnections(), 20);
  const giveUp = setTimeout(() => server.closeAllConnections(), lastBytesTimeoutMs);
  await closed;
  clearInterval(closing);
  clearTimeout(giveUp);
  // Only the HTTP server's own `close` stops the timer that checks connections.
  server.close();
}

const lastRequestWaitMs = 1_000;
const lastBytesTimeoutMs = 2_000;

function joinObservers(observers: readonly (RequestObserver | null)[]): RequestObserver | null {
  const present = observers.filter((observer) => observer !== null);
  const [only = null] = present;
  if (present.length < 2) return only;
  return {
    ended: (request) => present.forEach((observer) => observer.ended(request)),
    refused: (...refused) => present.forEach((observer) => observer.refused(...refused)),
    answered: (...answered) => present.forEach((observer) => observer.answered(...answered)),
    upstreamRefused: (...refused) => present.forEach((observer) => observer.upstreamRefused(...refused)),
  };
}
