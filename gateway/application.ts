import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { createExpressMiddleware } from "@trpc/server/adapters/express";
import express, { type Express } from "express";
import type { Config } from "./config/config.ts";
import { serveConsole } from "./http/serve-console.ts";
import { graphql } from "./graphql/graphql.ts";
import type { Services } from "./services.ts";
import { appRouter } from "./trpc/app-router.ts";
import { createContext, readCallBody } from "./trpc/context.ts";
import { setupScript } from "./v1/setup-script.ts";
import { errorHandler, unknownUrl } from "./v1/router.ts";
import { createOpenApiDocument } from "./v1/open-api/document.ts";
import { constants } from "node:zlib";
import compression from "compression";

export type ApplicationOptions = Pick<Config, "publicUrl" | "trustedProxies"> & { services: Services };

/** The Express application, which serves everything except `/v1` and health. */
export function createApplication({ services, publicUrl, trustedProxies }: ApplicationOptions): Express {
  const application = express();
  application.disable("x-powered-by");
  application.disable("etag");
  application.set("query parser", "simple");
  application.use((_request, response, next) => {
    response.setHeader("x-content-type-options", "nosniff");
    next();
  });
  application.use(["/trpc", graphqlPath, "/openapi.json"], compressAnswers);
  application.use(
    "/trpc",
    readCallBody(services),
    createExpressMiddleware({
      router: appRouter,
      createContext: createContext(services, { publicUrl, trustedProxies }),
      allowMethodOverride: true,
      maxBatchSize: trpcBatchCallsMax,
    }),
  );
  application.all(graphqlPath, graphql(services, graphqlPath));
  application.get("/openapi.json", serveOpenApiDocument());
  application.use("/setup", setupScript(publicUrl));
  application.use(serveConsole(consoleFolder));
  application.use(unknownUrl(services));
  application.use(errorHandler(services));
  return application;
}

const consoleFolder = join(import.meta.dirname, "../console/build");
const graphqlPath = "/graphql";
const trpcBatchCallsMax = 20;

/** The document needs no authentication, because it contains no data of this gateway. */
function serveOpenApiDocument() {
  let document: string | undefined;
  return (_request: IncomingMessage, response: ServerResponse): void => {
    document ??= JSON.stringify(createOpenApiDocument());
    const head = { "content-type": "application/json; charset=utf-8", "cache-control": "no-cache" };
    response.writeHead(200, head).end(document);
  };
}

/** Excludes `auth`, whose responses contain tokens: a compressed length can reveal a secret (BREACH). */
const compressAnswers = compression({
  threshold: 1_024,
  // A window of 64 KB bounds the memory of each response. The default is 4 MB.
  brotli: { params: { [constants.BROTLI_PARAM_LGWIN]: 16 } },
  filter: (request, response) =>
    !/[/,]auth\./.test(request.originalUrl) && compression.filter(request, response),
});
