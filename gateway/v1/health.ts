import { Router } from "express";

/** Whether this process takes requests: from when it has started until it begins to stop. */
export type Readiness = { isReady: boolean };

/** `/healthz`: the process is up. `/readyz`: it can serve. Neither asks the database: known keys are served without it. */
export function health(readiness: Readiness): Router {
  const router = Router();
  router.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });
  router.get("/readyz", (_request, response) => {
    response.status(readiness.isReady ? 200 : 503).json({ status: readiness.isReady ? "ready" : "stopping" });
  });
  return router;
}
