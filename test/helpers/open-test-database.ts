import type { ExecutionContext } from "ava";
import { Database, type DatabaseLimits } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import type { ProviderRow } from "../../db/entities/provider.ts";
import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import type { UserRow } from "../../db/entities/user.ts";
import { hangMs } from "./eventually.ts";
import { createMigratedDatabase, type DatabaseKind } from "./test-database.ts";

export async function openTestDatabase(
  t: Pick<ExecutionContext, "teardown">,
  kind: DatabaseKind,
  limits: Partial<DatabaseLimits> = {},
): Promise<Database> {
  return openDatabaseAt(t, await createMigratedDatabase(t, kind), limits);
}

export async function openDatabaseAt(
  t: Pick<ExecutionContext, "teardown">,
  url: string,
  limits: Partial<DatabaseLimits> = {},
): Promise<Database> {
  const all = { connectionsMax: 10, connectTimeoutMs: hangMs, operationTimeoutMs: hangMs, ...limits };
  const database = await Database.open(url, all);
  t.teardown(() => database.close());
  await database.migrate();
  return database;
}

export function userRow(id: string, more: Partial<UserRow> = {}): UserRow {
  return {
    id,
    email: `${id}@example.com`,
    name: id,
    passwordHash: "none",
    role: "member",
    status: "active",
    keepKeys: false,
    lastSignInAt: null,
    createdAt: new Date(),
    ...more,
  };
}

export function providerRow(id: string, more: Partial<ProviderRow> = {}): ProviderRow {
  return {
    id,
    name: id,
    kind: "demo",
    preset: null,
    baseUrl: null,
    timeouts: {},
    costSource: null,
    chargeFactor: null,
    revision: 1,
    createdAt: new Date(),
    ...more,
  };
}

export function modelRow(id: string, providerId: string, more: Partial<ModelRow> = {}): ModelRow {
  return {
    id,
    slug: `${providerId}/${id}`,
    providerId,
    upstreamModel: id,
    contextWindowTokens: null,
    outputTokensMax: null,
    inputPrice: null,
    cachedInputPrice: null,
    cacheWritePrice: null,
    outputPrice: null,
    priceDetails: null,
    revision: 1,
    createdAt: new Date(),
    ...more,
  };
}

export function usageRow(id: string, more: Partial<UsageRecordRow> = {}): UsageRecordRow {
  return {
    id,
    createdAt: new Date(),
    apiKeyId: "key_1",
    apiKeyName: "A key",
    ownerId: null,
    teamId: null,
    model: "demo/echo",
    provider: "demo",
    upstreamModel: "echo",
    credentialId: null,
    attempts: 1,
    endpoint: "chat/completions",
    clientTool: null,
    stream: false,
    status: "SUCCEEDED",
    httpStatus: 200,
    errorCode: null,
    limitedBy: null,
    errorReason: null,
    dropped: null,
    timing: null,
    inputTokens: 1,
    outputTokens: 2,
    cachedInputTokens: null,
    cacheWriteInputTokens: null,
    reasoningTokens: null,
    estimated: false,
    cost: null,
    inputPrice: null,
    cachedInputPrice: null,
    cacheWritePrice: null,
    outputPrice: null,
    latencyMs: 3,
    timeToFirstTokenMs: null,
    costDetails: null,
    providerCost: null,
    markup: 0,
    ...more,
  };
}
