import { lookUpKey } from "./keys/find-key.ts";
import { resolve } from "node:path";
import type { Database } from "../db/database.ts";
import { lockFile } from "../db/file-lock.ts";
import { openDatabase } from "../db/open-database.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { AccessTokens } from "./auth/access-tokens.ts";
import { AccountService } from "./auth/account-service.ts";
import { InvitationService } from "./auth/invitation-service.ts";
import { PasswordHasher } from "./auth/password-hasher.ts";
import { SessionService } from "./auth/session-service.ts";
import { UserService } from "./auth/user-service.ts";
import { OpenExchanges } from "./completions/exchange.ts";
import type { Config } from "./config/config.ts";
import { DataKeyLoader } from "./credentials/data-keys.ts";
import { readOrCreateKeyFile, createDataKeys, openSecretBox } from "./credentials/open-secret-box.ts";
import type { SecretBox } from "./credentials/secret-box.ts";
import { BodyBudget } from "./http/body-budget.ts";
import { createId } from "./ids.ts";
import { ChangeFeed } from "./keys/change-feed.ts";
import { KeyCache, LastUsed } from "./keys/authenticate-key.ts";
import { KeyService } from "./keys/key-service.ts";
import { KeyUsageReader } from "./keys/key-usage.ts";
import { startKeptResponses } from "./kept-responses/kept-responses.ts";
import { revocation, watchKeyExpiry } from "./keys/revocation.ts";
import { LimitService } from "./limits/limit-service.ts";
import { startLimits } from "./limits/start-limits.ts";
import { CredentialService } from "./models/credential-service.ts";
import { firstStart } from "./models/first-start.ts";
import { ModelService } from "./models/model-service.ts";
import { ProviderService } from "./models/provider-service.ts";
import { RecordedModelNames } from "./routing/recorded-model-names.ts";
import { Catalogue } from "./routing/catalogue.ts";
import { CoolDowns, RetryBudget } from "./routing/cool-downs.ts";
import { PrivateAddressWarnings } from "./routing/private-address-warnings.ts";
import type { Runtime } from "./runtime.ts";
import { AddressGuard } from "./upstream/address-guard.ts";
import { Upstreams } from "./upstream/upstreams.ts";
import { UsageHistory } from "./usage/history/usage-history.ts";
import { Retention } from "./usage/recording/retention.ts";
import { UsageRecorder } from "./usage/recording/usage-recorder.ts";
import { TeamService } from "./teams/team-service.ts";
import type { RequestObserver } from "./usage/request-observer.ts";

export type Services = Awaited<ReturnType<typeof createServices>>;

/** Builds every service and migrates the database. The caller must call `close`. */
export async function createServices(config: Config, runtime: Runtime, observer: RequestObserver | null) {
  const { limits } = config;
  const { log } = runtime;
  const secretBox = openSecretBox(config, runtime);
  const jwtKey = () => readOrCreateKeyFile(resolve(config.dataDir, "jwt.key"), runtime).toString("base64");
  const secrets = config.jwtSecrets ?? [jwtKey()];

  const database = await openDatabase(config);
  const { writeHealth } = database;
  writeHealth.onChange = (error) => {
    if (error) log.error({ error }, "cannot write to the database: will retry");
    else log.info("can write to the database again");
  };
  const closers: Closer[] = [() => database.close()];
  /** Writes pending data and closes everything in reverse order. Requests must have ended. */
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
  };
  try {
    const migrated = await database.migrate();
    if (migrated.length > 0) log.debug({ migrations: migrated }, "migrated the database schema");

    const audit = new AuditLog({ database, runtime, retentionDays: limits.auditRetentionDays });
    const guard = new AddressGuard(config.upstreamPrivateHosts);
    const base = { config, runtime, database, secretBox, audit, guard, closers };
    const serving = await startServing(base);
    const managed = createManaged(base, serving);
    const people = createPeople(base, secrets, serving.changeFeed);

    const { catalogue, upstreams, changeFeed, limitsInForce, budgets, keyCache } = serving;
    const reloadCatalogue = async () => {
      await catalogue.reload();
      upstreams.keepOnly(catalogue.endpoints());
    };
    let reloading: Promise<void> = Promise.resolve();
    /** Reloads run one after another, so that an older read never replaces a newer one. */
    const reloadLimits = (changed: string | null): Promise<void> => {
      const reload = reloading.then(async () => {
        const rows = await database.read((repositories) => repositories.limits.list(changed));
        limitsInForce.use(new Map(rows.map((row) => [row.holder, row])), changed);
        await budgets.limitsChanged(keyCache.keys(), changed);
      });
      reloading = reload.catch(() => {});
      return reload;
    };
    const dataKeys = createDataKeys(config, { database, runtime, secretBox });
    const { kmsRetryIntervalMsMax: retryIntervalMsMax } = limits;
    const dataKeyLoader =
      dataKeys &&
      new DataKeyLoader({ dataKeys, secretBox, log, keysCame: reloadCatalogue, retryIntervalMsMax });
    if (dataKeyLoader) closers.push(() => dataKeyLoader.close());
    await dataKeyLoader?.load();

    const withKey = config.makesFirstKey;
    const firstKeyValue = await firstStart({ database, runtime, ...managed, withKey });
    const loadDataKeys = () => dataKeyLoader?.load();
    const reloads = { reloadCatalogue, reloadLimits, loadDataKeys };
    await changeFeed.start(revocation({ ...serving, now: runtime.now, ...reloads }));
    await catalogue.reload();
    await reloadLimits(null);
    serving.privateAddressWarnings.warnAtStart(catalogue.list());

    return {
      ...serving,
      ...managed,
      ...people,
      audit,
      observer,
      database,
      /** The reason why this process cannot serve, for operators. Null if it can. */
      trouble: () => dataKeyLoader?.trouble ?? troubleOf(database),
      firstKeyValue,
      limits,
      runtime,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * An unavailable server does not count, because all processes would leave service at once, although they can
 * serve known keys. SQLite belongs to this machine.
 */
function troubleOf({ isSqlite, writeHealth: { trouble } }: Database): string | null {
  return isSqlite && trouble !== null ? `The last write to the database failed. ${trouble}` : null;
}

type Base = {
  config: Config;
  runtime: Runtime;
  database: Database;
  secretBox: SecretBox;
  audit: AuditLog;
  guard: AddressGuard;
  closers: Closer[];
};

type Closer = () => void | Promise<void>;

async function startServing({ config, runtime, database, secretBox, guard, closers }: Base) {
  const { limits } = config;
  const { now, monotonicNow, log } = runtime;
  const lastUsed = new LastUsed({ database, log });
  closers.push(() => lastUsed.close());
  const recorder = new UsageRecorder({
    database,
    log,
    lockFile,
    limits,
    dataDir: config.dataDir,
    isSynced: config.syncUsage,
    createName: () => createId("spl", runtime),
  });
  closers.push(() => recorder.close());
  const upstreams = new Upstreams({ guard, limits, now });
  closers.push(() => upstreams.close());
  const changeFeed = new ChangeFeed({ database, runtime, pollIntervalMs: limits.changePollIntervalMs });
  closers.push(() => changeFeed.close());
  const { closeLimits, ...limitServices } = await startLimits({ config, database, runtime, recorder });
  closers.push(closeLimits);
  const { close: closeKept, ...kept } = await startKeptResponses(config, { runtime, secretBox });
  closers.push(closeKept);
  const { limitsInForce } = limitServices;
  const catalogue = new Catalogue({ database, secretBox, limits, log, limitsInForce });
  const keyCache = new KeyCache({
    lookUp: (hash) => lookUpKey({ database, budgets: limitServices.budgets, catalogue }, hash),
    now: monotonicNow,
    entriesMax: limits.keyCacheEntriesMax,
    lookupsMax: limits.keyLookupsMax,
  });
  const attempts = {
    coolDowns: new CoolDowns({ now, monotonicNow }),
    retryBudget: new RetryBudget(limits.upstreamRetryPercentMax),
    random: () => runtime.randomBytes(4).readUInt32LE() / 2 ** 32,
    attemptsMax: limits.upstreamAttemptsMax,
    coolDownMs: limits.upstreamCoolDownMs,
    coolDownMsMax: limits.upstreamCoolDownMsMax,
    retryWaitMsMax: limits.upstreamRetryWaitMsMax,
  };
  const openExchanges = new OpenExchanges();
  closers.push(watchKeyExpiry({ now, openExchanges }));
  const unknownPerHourMax = limits.usageUnknownModelsPerHourMax;
  return {
    lastUsed,
    recorder,
    upstreams,
    changeFeed,
    ...limitServices,
    ...kept,
    catalogue,
    keyCache,
    attempts,
    recordedModelNames: new RecordedModelNames({ catalogue, now, unknownPerHourMax }),
    privateAddressWarnings: new PrivateAddressWarnings({ log, guard }),
    openExchanges,
    bodyBudget: new BodyBudget(limits.requestBodiesBytesMax),
  };
}

type Serving = Awaited<ReturnType<typeof startServing>>;

function createManaged(
  { config, runtime, database, secretBox, audit, guard, closers }: Base,
  { changeFeed, catalogue, upstreams, attempts, limitsInForce, limiter, budgets }: Serving,
) {
  const { limits, environmentKeys } = config;
  const { coolDowns } = attempts;
  const common = { database, runtime, changeFeed, audit };
  const retention = new Retention({ database, runtime, retentionDays: limits.usageRetentionDays });
  closers.push(() => retention.close());
  return {
    keys: new KeyService({ ...common, limitsInForce }),
    teams: new TeamService({ ...common, budgets }),
    holderLimits: new LimitService({ ...common, limitsInForce }),
    keyUsage: new KeyUsageReader({ database, now: runtime.now, limitsInForce, limiter, budgets }),
    models: new ModelService({ ...common, catalogue }),
    credentials: new CredentialService({ ...common, secretBox }),
    providers: new ProviderService({ ...common, secretBox, guard, upstreams, coolDowns, environmentKeys }),
    usageHistory: new UsageHistory({ database, limits }),
  };
}

function createPeople({ runtime, database, audit }: Base, secrets: string[], changeFeed: ChangeFeed) {
  const accessTokens = new AccessTokens(secrets, runtime);
  const sessions = new SessionService({ database, runtime, accessTokens, secrets, audit });
  const passwords = new PasswordHasher(runtime);
  return {
    sessions,
    accounts: new AccountService({ database, runtime, sessions, passwords, secrets, audit }),
    invitations: new InvitationService({ database, runtime, sessions, passwords, audit }),
    users: new UserService({ database, runtime, audit, changeFeed }),
  };
}
