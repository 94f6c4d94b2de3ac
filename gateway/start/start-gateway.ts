import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createApp } from "../app.ts";
import type { Config } from "../config/config.ts";
import { GatewayError } from "../errors.ts";
import { formatUrl, toListenError } from "../http/server-address.ts";
import type { Settings } from "../config/limit-variables.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { type MetricsServer, startMetricsServer } from "../metrics/metrics-server.ts";
import type { Runtime } from "../runtime.ts";
import { createServices, type Services } from "../services.ts";
import { answerMalformed } from "../v1/answer-malformed.ts";
import type { Readiness } from "../v1/health.ts";
import type { RequestObserver } from "../usage/request-observer.ts";

export type RunningGateway = {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  url: string;
  /** As people reach it. */
  publicUrl: string;
  services: Services;
  /** Null where nobody wants them. */
  metrics: Metrics | null;
  /** Where they can be read; null in a worker, whose primary tells them. */
  metricsUrl: string | null;
  /** Lets requests under way finish, as long as the drain limit allows, then stops. */
  close(): Promise<void>;
};

/**
 * Starts everything. Throws, with nothing left running, when the database or a port cannot be had.
 * @param isWorker one of several behind the same port; another process tells the metrics
 */
export async function startGateway(
  config: Config,
  runtime: Runtime,
  isWorker = false,
): Promise<RunningGateway> {
  // What makes them is loaded by nobody else.
  const metrics = config.metrics && new (await import("../metrics/metrics.ts")).Metrics();
  const tracing =
    config.tracing && new (await import("../tracing/tracing.ts")).Tracing(config.tracing, runtime);
  const observer = joinObservers([metrics?.observer ?? null, tracing?.observer ?? null]);
  const services = await createServices(config, runtime, observer);
  metrics?.watch(services);
  const { limits } = config;
  let metricsServer: MetricsServer | null = null;
  const readiness: Readiness = { isReady: true, trouble: services.trouble };
  try {
    const server = createHttpServer(
      config,
      runtime,
      untilStopping(readiness, createApp({ services, ...config, readiness })),
    );
    if (config.metrics && metrics && !isWorker) {
      const print = () => metrics.print();
      metricsServer = await startMetricsServer({ ...config.metrics, log: runtime.log, print });
    }
    await listen(server, config, isWorker);
    const url = urlOf(server, config.host);
    const close = async () => {
      readiness.isReady = false;
      // Load balancers look at /readyz now and then; until they have, they go on sending.
      await wait(limits.stopDelayMs);
      await stop(server, services, limits);
      await services.close();
      await metricsServer?.close();
      await tracing?.close();
    };
    const metricsUrl = metricsServer?.url ?? null;
    return { url, publicUrl: config.publicUrl ?? url, services, metrics, metricsUrl, close };
  } catch (error) {
    await metricsServer?.close();
    await services.close();
    throw error;
  }
}

/** Whoever asks a gateway that is stopping gets an answer, and has to ask another one next time. */
function untilStopping(readiness: Readiness, app: RequestListener): RequestListener {
  return (request, response) => {
    if (!readiness.isReady) response.shouldKeepAlive = false;
    app(request, response);
  };
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

function listen(server: Server, { host, port }: Config, isWorker: boolean): Promise<void> {
  // Elsewhere the cluster module deals connections out.
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

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return formatUrl(host, port);
}

async function stop(
  server: Server,
  { openExchanges }: Services,
  { drainTimeoutMs, stopDelayMs }: Settings,
): Promise<void> {
  // Not the HTTP server's own way, which closes idle connections at once: a request may be on its way on them.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  const message = "The gateway is stopping. Send the request again.";
  const isStopping = new GatewayError("service_unavailable", message, { retryAfterSeconds: 1 });
  const deadline = performance.now() + drainTimeoutMs;
  do {
    await openExchanges.drain(Math.max(0, deadline - performance.now()), isStopping);
    // Who has just got an answer that began before the stop may ask once more on the same connection.
    await wait(Math.min(stopDelayMs, lastRequestWaitMs));
  } while (openExchanges.count().requests > 0);
  // What was answered is still on its way to clients that keep their connections open.
  server.closeIdleConnections();
  const closing = setInterval(() => server.closeIdleConnections(), 20);
  const giveUp = setTimeout(() => server.closeAllConnections(), lastBytesTimeoutMs);
  await closed;
  clearInterval(closing);
  clearTimeout(giveUp);
  // Ends what it does now and then for its connections.
  server.close();
}

const lastRequestWaitMs = 1_000;
const lastBytesTimeoutMs = 2_000;

/** Several observers as one; null where there is none. */
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
