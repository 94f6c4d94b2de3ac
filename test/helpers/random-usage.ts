import type { UsageRecordRow, UsageStatus } from "../../db/entities/usage-record.ts";
import { createId } from "../../gateway/ids.ts";
import { priceRequest } from "../../gateway/usage/counting/cost.ts";
import type { SeededRandom } from "./seeded-random.ts";

/**
 * Returns a realistic record: a quarter of the keys make half of the requests, and some requests fail or have no
 * price.
 */
export function randomUsage(random: SeededRandom, createdAt: Date, world: UsageWorld): UsageRecordRow {
  const keyNumber = skewed(random, world.keys);
  // Each key uses at most three models.
  const modelNumber = (keyNumber + skewed(random, 3)) % world.models;
  const provider = `provider-${modelNumber % world.providers}`;
  const status = statusOf(random);
  const latencyMs = Math.round(2 ** (6 + random.upTo(10_000) / 1_000));
  const prices =
    modelNumber % 7 === 6 ? noPrices : { ...noPrices, inputPrice: 150_000_000, outputPrice: 600_000_000 };
  const usage = {
    inputTokens: random.upTo(20_000),
    outputTokens: random.upTo(2_000),
    cachedInputTokens: random.chance(0.3) ? random.upTo(10_000) : null,
    cacheWriteInputTokens: random.chance(0.1) ? random.upTo(5_000) : null,
    reasoningTokens: random.chance(0.2) ? random.upTo(1_000) : null,
  };
  const known = status === "FAILED" ? null : usage;
  const { cost } = priceRequest(prices, known, createdAt);
  return {
    id: createId("req", { now: () => createdAt.getTime(), randomBytes: (size) => randomBytes(random, size) }),
    createdAt,
    apiKeyId: `key_${String(keyNumber).padStart(26, "0")}`,
    apiKeyName: `Key ${keyNumber}`,
    ownerId: keyNumber % 10 === 0 ? null : `usr_${String(keyNumber % world.owners).padStart(26, "0")}`,
    teamId: keyNumber % 4 === 1 ? `tem_${String(keyNumber % world.owners).padStart(26, "0")}` : null,
    model: `${provider}/model-${modelNumber}`,
    provider,
    upstreamModel: `model-${modelNumber}`,
    credentialId: `crd_${String(modelNumber).padStart(26, "0")}`,
    attempts: random.chance(0.02) ? 2 : 1,
    endpoint: "chat/completions",
    // Nine in ten requests of a key come from the same tool. Null is an unknown tool.
    clientTool: tools[(keyNumber + (random.chance(0.1) ? 1 : 0)) % tools.length] ?? null,
    stream: random.chance(0.7),
    status,
    httpStatus: status === "FAILED" ? 502 : 200,
    errorCode: status === "FAILED" ? "upstream_error" : null,
    limitedBy: null,
    errorReason: status === "FAILED" ? random.pick(["http_503", "connection_refused", "http_429"]) : null,
    dropped: null,
    timing: null,
    ...(known ?? noUsage),
    estimated: false,
    cost,
    ...prices,
    costDetails: null,
    providerCost: null,
    markup: Math.round((cost ?? 0) / 8),
    latencyMs,
    timeToFirstTokenMs: status === "FAILED" ? null : Math.round(latencyMs / 3),
  };
}

export type UsageWorld = { keys: number; models: number; providers: number; owners: number };

export const usualWorld: UsageWorld = { keys: 200, models: 12, providers: 4, owners: 40 };

const tools = ["claude-code", "codex", null, "opencode"];

const noPrices = { inputPrice: null, cachedInputPrice: null, cacheWritePrice: null, outputPrice: null };
const noUsage = {
  inputTokens: null,
  outputTokens: null,
  cachedInputTokens: null,
  cacheWriteInputTokens: null,
  reasoningTokens: null,
};

/** Returns an integer below `count`. Small integers are more likely. */
function skewed(random: SeededRandom, count: number): number {
  return Math.floor(count * (random.upTo(9_999) / 10_000) ** 2);
}

function statusOf(random: SeededRandom): UsageStatus {
  if (random.chance(0.95)) return "SUCCEEDED";
  return random.pick(["FAILED", "FAILED", "CANCELLED", "INTERRUPTED"]);
}

function randomBytes(random: SeededRandom, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at++) bytes[at] = random.upTo(255);
  return bytes;
}
