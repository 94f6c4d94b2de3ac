import type { Limiter } from "../limits/limiter.ts";
import type { Limits } from "../limit-variables.ts";
import type { AskedModels } from "../models/asked-models.ts";
import type { Catalogue } from "../models/catalogue.ts";
import type { PrivateAddressWarnings } from "../models/private-address-warnings.ts";
import type { AttemptsOptions } from "../upstream/attempts.ts";
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
