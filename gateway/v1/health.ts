import { Router } from "express";

/** Whether this process takes requests: from when it has started until it begins to stop. */
export type Readiness = {
  isReady: boolean;
  /** What keeps it from serving though it runs, in words without secrets; null = nothing. */
  trouble(): string | null;
};

/** `/healthz`: the process is up. `/readyz`: it can serve. Neither asks the database: known keys are served without it. */
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
