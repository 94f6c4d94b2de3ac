import type { RequestListener } from "node:http";
import type { ApplicationOptions } from "./application.ts";
import type { Config } from "./config/config.ts";
import { joinEarlyChunks } from "./http/read-body.ts";
import { crossOrigin } from "./v1/cross-origin.ts";
import { health, type Readiness } from "./v1/health.ts";
import { createV1Router, errorHandler } from "./v1/router.ts";

type AppOptions = ApplicationOptions & Pick<Config, "corsOrigins"> & { readiness: Readiness };

/** `/v1` bypasses the Express application, which would take a tenth of a short request's time. */
export function createApp(options: AppOptions): RequestListener {
  const { services, trustedProxies, readiness, corsOrigins } = options;
  const allow = corsOrigins.length > 0 ? crossOrigin(corsOrigins) : null;
  const v1 = createV1Router({ ...services, trustedProxies });
  const probes = health(readiness);
  const application = lazyApplication(options);
  return (request, response) => {
    if (allow?.(request, response)) return;
    joinEarlyChunks(request, response, services.bodyBudget);
    v1(request, response, () => probes(request, response, () => void application(request, response)));
  };
}

/** Loads the application at its first request, because its modules would take a fifth of the startup time. */
function lazyApplication(options: ApplicationOptions) {
  let loading: Promise<RequestListener> | undefined;
  const load = async () => (await import("./application.ts")).createApplication(options);
  const refuse = errorHandler(options.services);
  return async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    try {
      const application = await (loading ??= load());
      // The client may have disconnected in the meantime.
      if (!response.destroyed) application(request, response);
    } catch (error) {
      loading = undefined;
      refuse(error, request, response);
    }
  };
}
