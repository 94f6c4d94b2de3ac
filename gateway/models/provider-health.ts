import type { Database } from "../../db/database.ts";
import type { CredentialRow, ProviderRow } from "../../db/entities/provider.ts";
import type { ErrorReason } from "../errors.ts";
import { isProvidersFault } from "../../db/repositories/provider-half-hour-repository.ts";
import type { RecentOutcome } from "../../db/repositories/usage-record-repository.ts";
import { firstIdAt } from "../ids.ts";
import type { Runtime } from "../runtime.ts";
import type { CoolDown, CoolDowns } from "../routing/cool-downs.ts";
import { findProvider, findPreset } from "../providers/registry.ts";

/** A provider's health, from recent requests (at most an hour old) and this process's cool-downs. */
export type ProviderHealth = {
  id: string;
  name: string;
  state: "ok" | "cooling_down" | "failing" | "no_credential" | "unused";
  /** The earliest known time of the current state. Null for `no_credential` and `unused`. */
  since: Date | null;
  /** The end of the cool-down. Null unless the state is `cooling_down`. */
  until: Date | null;
  /** The code, such as `http_429`, of the latest active cool-down, or else of the latest failure. */
  lastErrorCode: string | null;
  /** A more specific cause than the code, if known. */
  lastErrorReason: ErrorReason | null;
  lastErrorAt: Date | null;
  requestCount: number;
  failureCount: number;
  credentials: CredentialHealth[];
};

type CredentialHealth = Pick<ProviderHealth, "lastErrorCode" | "lastErrorReason"> & {
  id: string;
  coolingDownUntil: Date | null;
};

type HealthOptions = { database: Database; runtime: Pick<Runtime, "now">; coolDowns: CoolDowns };

/** Reads the health of each provider, sorted by name. */
export async function readProviderHealth(options: HealthOptions): Promise<ProviderHealth[]> {
  const { database, runtime, coolDowns } = options;
  const fromId = firstIdAt("req", runtime.now() - periodMs);
  const { providers, credentials, outcomes } = await database.ask(null, async (repositories) => ({
    providers: await repositories.providers.list(),
    credentials: await repositories.providers.listCredentials(),
    outcomes: await repositories.usageRecords.listOutcomes(fromId, outcomesMax),
  }));
  const outcomesOf = Map.groupBy(outcomes, ({ provider }) => provider);
  return providers.map((provider) => {
    const own = credentials.filter(({ providerId }) => providerId === provider.id);
    return toHealth(provider, own, outcomesOf.get(provider.name) ?? [], coolDowns);
  });
}

const periodMs = 60 * 60_000;

/** Reading this many outcomes takes about 10 ms of CPU time. */
const outcomesMax = 2_000;

/** @param outcomes newest first */
function toHealth(
  provider: ProviderRow,
  credentials: CredentialRow[],
  outcomes: RecentOutcome[],
  coolDowns: CoolDowns,
): ProviderHealth {
  const settled = outcomes.filter(({ status }) => status === "SUCCEEDED" || status === "FAILED");
  const failures = settled.filter(isProvidersFault);
  const cooled = (credentials.length === 0 ? [null] : credentials).map((credential) => ({
    id: credential?.id ?? null,
    coolDown: coolDowns.find({ providerId: provider.id, credentialId: credential?.id ?? null }),
  }));
  const [lastFailure] = failures;
  const active = cooled.flatMap(({ coolDown }) => coolDown ?? []);
  const isCooling = active.length === cooled.length;
  const [latest] = active.toSorted((left, right) => right.since - left.since);
  return {
    id: provider.id,
    name: provider.name,
    ...(needsCredential(provider) && credentials.length === 0
      ? { state: "no_credential", since: null, until: null }
      : isCooling
        ? coolingDown(active)
        : { ...stateOf(settled), until: null }),
    lastErrorCode: latest?.code ?? (lastFailure ? codeOf(lastFailure) : null),
    lastErrorReason: latest ? latest.reason : ((lastFailure?.errorReason ?? null) as ErrorReason | null),
    lastErrorAt: latest ? new Date(latest.since) : (lastFailure?.createdAt ?? null),
    requestCount: outcomes.length,
    failureCount: failures.length,
    credentials: cooled.flatMap(({ id, coolDown }) => {
      if (id === null) return [];
      const until = coolDown && new Date(coolDown.until);
      const { code = null, reason = null } = coolDown ?? {};
      return { id, coolingDownUntil: until, lastErrorCode: code, lastErrorReason: reason };
    }),
  };
}

/** The provider cools down until its first credential is ready. */
function coolingDown(coolDowns: CoolDown[]): Pick<ProviderHealth, "state" | "since" | "until"> {
  const since = new Date(Math.max(...coolDowns.map((coolDown) => coolDown.since)));
  const until = new Date(Math.min(...coolDowns.map((coolDown) => coolDown.until)));
  return { state: "cooling_down", since, until };
}

/** `since` is the time of the oldest request in the latest run of equal outcomes. */
function stateOf(settled: RecentOutcome[]): Pick<ProviderHealth, "state" | "since"> {
  const [latest] = settled;
  if (latest === undefined) return { state: "unused", since: null };
  const isFailing = isProvidersFault(latest);
  const turn = settled.findIndex((outcome) => isProvidersFault(outcome) !== isFailing);
  const first = settled[turn === -1 ? settled.length - 1 : turn - 1];
  return { state: isFailing ? "failing" : "ok", since: first?.createdAt ?? null };
}

/** The HTTP status replaces a code that is not an identifier, because upstreams can send any text. */
function codeOf({ errorCode, httpStatus }: RecentOutcome): string {
  return errorCode !== null && /^[a-z][a-z0-9_]{0,63}$/.test(errorCode) ? errorCode : `http_${httpStatus}`;
}

function needsCredential({ kind, preset }: ProviderRow): boolean {
  const { apiKey } = findPreset(kind, preset)?.fields ?? findProvider(kind).fields;
  return apiKey === "required";
}
