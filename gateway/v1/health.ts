import type { ServerResponse } from "node:http";
import Router from "router";

export type Readiness = {
  /** False once the process is stopping. */
  isReady: boolean;
  /** The reason why this process cannot serve, or null if it can. The text contains no secrets. */
  trouble(): string | null;
};

/** `/healthz`: it is up. `/readyz`: it can serve. Neither queries the database: cached keys work without it. */
export function health(readiness: Readiness): Router.Router {
  const router = Router();
  router.get("/healthz", (_request, response) => {
    send(response, 200, { status: "ok" });
  });
  router.get("/readyz", (_request, response) => {
    const reason = readiness.isReady ? readiness.trouble() : null;
    const status = readiness.isReady ? (reason === null ? "ready" : "waiting") : "stopping";
    send(response, status === "ready" ? 200 : 503, { status, ...(reason !== null && { reason }) });
  });
  return router;
}

function send(response: ServerResponse, status: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  const head = {
    "content-type": "application/json; charset=utf-8",
    "content-length": bytes.length,
    "x-content-type-options": "nosniff",
  };
  response.writeHead(status, head).end(bytes);
}
