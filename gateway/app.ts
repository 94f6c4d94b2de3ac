import { createExpressMiddleware } from "@trpc/server/adapters/express";
import express, { type Express } from "express";
import { health, type Readiness } from "./v1/health.ts";
import type { Services } from "./services.ts";
import { appRouter } from "./trpc/app-router.ts";
import { createContext } from "./trpc/context.ts";
import { createV1Router, errorHandler, forgiveBaseUrl, unknownUrl } from "./v1/router.ts";

type AppOptions = { services: Services; publicUrl: string | null; readiness: Readiness };

/** Where the transports meet on one port. */
export function createApp({ services, publicUrl, readiness }: AppOptions): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");

  app.use(forgiveBaseUrl);
  app.use("/v1", createV1Router(services));
  app.use(
    "/trpc",
    createExpressMiddleware({
      router: appRouter,
      createContext: createContext(services, publicUrl),
      maxBodySize: trpcBodyBytesMax,
      maxBatchSize: trpcBatchCallsMax,
    }),
  );
  app.use(health(readiness));
  app.use(unknownUrl(services));
  app.use(errorHandler(services));
  return app;
}

const trpcBodyBytesMax = 1024 * 1024;
const trpcBatchCallsMax = 20;
