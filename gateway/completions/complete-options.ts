import type { Limiter } from "../limits/rates/limiter.ts";
import type { Limits } from "../config/limit-variables.ts";
import type { AskedModels } from "../routing/asked-models.ts";
import type { Catalogue } from "../routing/catalogue.ts";
import type { PrivateAddressWarnings } from "../routing/private-address-warnings.ts";
import type { AttemptsOptions } from "../routing/attempts.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { RequestObserver } from "../usage/request-observer.ts";

/** What the endpoints that call a model have in common. */
export type CompleteOptions = {
  catalogue: Catalogue;
  askedModels: AskedModels;
  upstreams: Upstreams;
  attempts: AttemptsOptions;
  limits: Limits;
  limiter: Pick<Limiter, "admit">;
  privateAddressWarnings: Pick<PrivateAddressWarnings, "warn">;
  /** Null where nobody counts. */
  observer: RequestObserver | null;
};
