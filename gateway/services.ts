import { resolve } from "node:path";
import { AuditLog } from "./audit/audit-log.ts";
import { lockFile } from "../db/file-lock.ts";
import { AccessTokens } from "./auth/access-tokens.ts";
import { AccountService } from "./auth/account-service.ts";
import { invalidApiKey, isUsable } from "./keys/authenticate-key.ts";
import { InvitationService } from "./auth/invitation-service.ts";
import { PasswordHasher } from "./auth/password-hasher.ts";
import { SessionService } from "./auth/session-service.ts";
import { UserService } from "./auth/user-service.ts";
import { OpenExchanges } from "./completions/open-exchanges.ts";
import type { Config } from "./config/config.ts";
import { DataKeyLoader } from "./credentials/data-key-loader.ts";
import { readOrCreateKeyFile } from "./credentials/key-file.ts";
import { createDataKeys, openSecretBox } from "./credentials/open-secret-box.ts";
import { firstStart } from "./models/first-start.ts";
import { BodyBudget } from "./http/body-budget.ts";
import { createId } from "./ids.ts";
import { ChangeFeed } from "./keys/change-feed.ts";
import { KeyCache } from "./keys/key-cache.ts";
import { KeyService } from "./keys/key-service.ts";
import { KeyUsageReader } from "./keys/key-usage.ts";
import { LastUsed } from "./keys/last-used.ts";
import { lookUpKey } from "./keys/look-up-key.ts";
import { startLimits } from "./limits/start-limits.ts";
import { CredentialService } from "./models/credential-service.ts";
import { AskedModels } from "./routing/asked-models.ts";
import { Catalogue } from "./routing/catalogue.ts";
import { ModelService } from "./models/model-service.ts";
import { PrivateAddressWarnings } from "./routing/private-address-warnings.ts";
import { ProviderService } from "./models/provider-service.ts";
import { openDatabase } from "../db/open-database.ts";
import type { Runtime } from "./runtime.ts";
import { AddressGuard } from "./upstream/address-guard.ts";
import { CoolDowns } from "./routing/cool-downs.ts";
import { RetryBudget } from "./routing/retry-budget.ts";
import { Upstreams } from "./upstream/upstreams.ts";
import type { RequestObserver } from "./usage/request-observer.ts";
import { Onboarding } from "./usage/history/onboarding.ts";
import { Retention } from "./usage/recording/retention.ts";
import { UsageHistory } from "./usage/history/usage-history.ts";
import { UsageRecorder } from "./usage/recording/usage-recorder.ts";

export type Services = Awaited<ReturnType<typeof createServices>>;

/**
 * Builds every service, once, on a database that it brings up to date. Whoever calls it calls `close` in the end.
 * @param observer null where nobody counts requests
 */
export async function createServices(config: Config, runtime: Runtime, observer: RequestObserver | null) {
  const { limits } = config;
  const { log } = runtime;
  const secretBox = openSecretBox(config, runtime);
  const jwtKey = () => readOrCreateKeyFile(resolve(config.dataDir, "jwt.key"), runtime).toString("base64");
  const secrets = config.jwtSecrets ?? [jwtKey()];

  const database = await openDatabase(config);
  const closers = [() => database.close()];
  /** Writes what is left and lets go of everything, the latest first. Requests must have ended before. */
  const close = async () => {
    for (const closer of closers.toReversed()) await closer();
  };
  try {
    const migrated = await database.migrate();
    if (migrated.length > 0) log.info({ migrations: migrated }, "the database schema was brought up to date");

    const changeFeed = new ChangeFeed({ database, runtime, pollIntervalMs: limits.changePollIntervalMs });
    const keyCache = new KeyCache({
      lookUp: async (hash) => {
        const key = await lookUpKey(database, hash);
        // What it has spent has to be known when its requests come.
        if (key) await budgets.loadFor(key);
        // A key that was made elsewhere a moment ago may be for a model that was, too.
        if (key && !catalogue.hasAll(key.modelIds)) await catalogue.reload();
        return key;
      },
      now: runtime.now,
      entriesMax: limits.keyCacheEntriesMax,
      lookupsMax: limits.keyLookupsMax,
    });
    const lastUsed = new LastUsed({ database, log });
    closers.push(() => lastUsed.close());
    const guard = new AddressGuard(config.upstreamPrivateHosts);
    const privateAddressWarnings = new PrivateAddressWarnings({ log, guard });
    const { now } = runtime;
    const upstreams = new Upstreams({ guard, limits, now });
    const attempts = {
      coolDowns: new CoolDowns(now),
      retryBudget: new RetryBudget(limits.upstreamRetryPercentMax),
      random: () => runtime.randomBytes(4).readUInt32LE() / 2 ** 32,
      attemptsMax: limits.upstreamAttemptsMax,
      coolDownMs: limits.upstreamCoolDownMs,
      coolDownMsMax: limits.upstreamCoolDownMsMax,
      retryWaitMsMax: limits.upstreamRetryWaitMsMax,
    };
    const recorder = new UsageRecorder({
      ...{ database, log, lockFile, limits },
      dataDir: config.dataDir,
      isSynced: config.syncUsage,
      createName: () => createId("spl", runtime),
      shipped: (records) => budgets.shipped(records),
    });
    const { budgets, limiter, closeLimits, exchangeLimits } = await startLimits({
      ...{ config, database, runtime, recorder },
    });
    closers.push(
      () => recorder.close(),
      () => upstreams.close(),
      () => changeFeed.close(),
      () => closeLimits(),
    );
    const openExchanges = new OpenExchanges();
    const bodyBudget = new BodyBudget(limits.requestBodiesBytesMax);
    const catalogue = new Catalogue({ database, secretBox, limits, log });
    const unknownPerHourMax = limits.usageUnknownModelsPerHourMax;
    const askedModels = new AskedModels({ catalogue, now, unknownPerHourMax });
    const audit = new AuditLog({ database, runtime, retentionDays: limits.auditRetentionDays });
    const keys = new KeyService({ database, runtime, changeFeed, audit, limits });
    const models = new ModelService({ database, runtime, changeFeed, audit, catalogue });
    const credentials = new CredentialService({ database, runtime, changeFeed, audit, secretBox });
    const providers = new ProviderService({
      ...{ database, runtime, changeFeed, audit, secretBox, guard, upstreams },
      coolDowns: attempts.coolDowns,
      environmentKeys: config.environmentKeys,
    });
    const retention = new Retention({ database, runtime, retentionDays: limits.usageRetentionDays });
    closers.push(() => retention.close());
    const usageHistory = new UsageHistory({ database, limits });
    const accessTokens = new AccessTokens(secrets, runtime);
    const sessions = new SessionService({ database, runtime, accessTokens, secrets, audit });
    const passwords = new PasswordHasher(runtime);
    const accounts = new AccountService({ database, runtime, sessions, passwords, secrets, audit });
    const invitations = new InvitationService({ database, runtime, sessions, passwords, audit });
    const users = new UserService({ database, runtime, audit });

    const reloadCatalogue = async () => {
      await catalogue.reload();
      upstreams.keepOnly(catalogue.endpoints());
    };
    const dataKeys = createDataKeys(config, { database, runtime, secretBox });
    const { kmsRetryIntervalMsMax: retryIntervalMsMax } = limits;
    const dataKeyLoader =
      dataKeys &&
      new DataKeyLoader({ dataKeys, secretBox, log, keysCame: reloadCatalogue, retryIntervalMsMax });
    if (dataKeyLoader) closers.push(() => dataKeyLoader.close());
    await dataKeyLoader?.load();
    /** Ends the open requests of a key that may no longer be made. */
    const updateExchanges = async (keyId: string) => {
      for (const hash of openExchanges.hashesOf(keyId)) {
        const key = await keyCache.find(hash);
        openExchanges.update(keyId, hash, isUsable(key, runtime.now()) ? key : null, invalidApiKey());
      }
    };

    const firstKeyValue = await firstStart({
      database,
      runtime,
      keys,
      models,
      providers,
      withKey: config.makesFirstKey,
    });
    if (config.administrator && (await accounts.createFirstAdministrator(config.administrator))) {
      log.info("the administrator from ADMIN_EMAIL was created");
    }
    await changeFeed.start({
      async changed(kind, entityId) {
        if (kind === "catalogue") return reloadCatalogue();
        // Not waited for: KMS may take long, and the feed has keys to stop.
        if (kind === "data_key") return void dataKeyLoader?.load();
        budgets.changed(entityId);
        await keyCache.refresh(entityId);
        if (!keyCache.has(entityId)) budgets.forget(entityId);
        await updateExchanges(entityId);
      },
      async everythingChanged() {
        budgets.forget();
        keyCache.clear();
        void dataKeyLoader?.load();
        await reloadCatalogue();
        for (const keyId of openExchanges.keyIds()) await updateExchanges(keyId);
      },
    });
    await catalogue.reload();
    privateAddressWarnings.warnAtStart(catalogue.list());

    return {
      ...{
        accounts,
        sessions,
        invitations,
        users,
        audit,
        keys,
        models,
        providers,
        credentials,
        usageHistory,
      },
      onboarding: new Onboarding(database),
      ...{
        keyCache,
        lastUsed,
        catalogue,
        askedModels,
        upstreams,
        attempts,
        privateAddressWarnings,
        limiter,
        budgets,
        keyUsage: new KeyUsageReader({ database, now, limits, limiter, budgets }),
        exchangeLimits,
        recorder,
        openExchanges,
        bodyBudget,
        changeFeed,
        observer,
        database,
      },
      /** What keeps this process from serving, in words for operators; null = nothing. */
      trouble: () => dataKeyLoader?.trouble ?? null,
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
