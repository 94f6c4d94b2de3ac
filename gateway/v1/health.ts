import { Router } from "express";

export type Readiness = {
  /** Whether this process accepts requests. False after SIGTERM. */
  isReady: boolean;
  /** The reason why this process cannot serve, or null if it can. The text contains no secrets. */
  trouble(): string | null;
};

/**
 * `/healthz`: the process is up. `/readyz`: the process can serve. Neither queries the database, because
 * cached keys work without the database.
 */
export function health(readiness: Readiness): Router {
  const router = Router();
  router.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });
  router.get("/readyz", (_request, response) => {
    const reason = readiness.isReady ? readiness.trouble() : null;
    const status = readiness.isReady ? (reason === null ? "ready" : "waiting") : "stopping";
    response.status(status === "ready" ? 200 : 503).json({ status, ...(reason !== null && { reason }) });
  });
  return router;
}
