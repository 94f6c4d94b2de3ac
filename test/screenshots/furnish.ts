import { priceRequest } from "../../gateway/usage/counting/cost.ts";
import { randomUsage } from "../helpers/random-usage.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import type { TestGateway } from "../helpers/test-gateway.ts";

/** Fills a gateway with a small team's month of data. Returns the console's URL paths by screenshot name. */
export async function furnish({ admin, services }: TestGateway): Promise<Record<string, string>> {
  const slugs: string[] = [];
  for (const { kind, models, ...provider } of upstreams) {
    const { id } = await admin.providers.create.mutate({ ...provider, kind, apiKey: "sk-0123456789abcdef" });
    await admin.providers.addModels.mutate({ id, models });
    slugs.push(...models.map((model) => `${provider.name}/${model}`));
  }
  const keys: { id: string; name: string; slugs: string[] }[] = [];
  for (const [place, name] of keyNames.entries()) {
    const own = slugs.filter((_, index) => (index + place) % 3 !== 0);
    const { key } = await admin.keys.create.mutate({ name, models: own });
    keys.push({ id: key.id, name, slugs: own });
  }
  await admin.keys.deactivate.mutate({ id: keys[2]?.id ?? "" });
  await admin.users.invite.mutate({ name: "Grace Hopper", email: "grace@example.com", role: "member" });
  await admin.users.invite.mutate({ name: "Alan Turing", email: "alan@example.com", role: "admin" });
  const { id: teamId } = await admin.teams.create.mutate({ name: "Search" });
  for (const { id: userId, name } of (await admin.users.list.query()).items)
    await admin.teams.addMember.mutate({
      id: teamId,
      userId,
      role: name.startsWith("Alan") ? "lead" : "member",
    });
  await admin.teams.setLimits.mutate({ id: teamId, limits: { budgetsUsd: { month: 500 } } });
  await admin.keys.create.mutate({ name: "Indexer", models: slugs.slice(0, 2), teamId, ownerId: null });
  await use(services, keys);
  const [first] = keys;
  const [provider] = (await admin.providers.list.query()).filter(({ name }) => name === "anthropic");
  return {
    overview: "/",
    keys: "/keys",
    "key-new": "/keys/new",
    key: `/keys/${first?.id}`,
    "key-setup": `/keys/${first?.id}?tab=setup`,
    "key-snippets": `/keys/${first?.id}?tab=snippets`,
    "key-usage": `/keys/${first?.id}?tab=usage&period=30d`,
    usage: "/usage?period=30d",
    playground: "/playground",
    models: "/models",
    model: "/models/anthropic/claude-sonnet-4-6",
    providers: "/providers",
    "provider-new": "/providers/new",
    provider: `/providers/${provider?.id}`,
    teams: "/teams",
    team: `/teams/${teamId}`,
    people: "/people",
    limits: "/limits",
    "audit-log": "/audit-log",
    account: "/account",
    "sign-in": "/sign-in",
  };
}

const upstreams = [
  {
    name: "openai",
    kind: "openai-compatible",
    preset: "openai",
    baseUrl: "https://api.openai.com/v1",
    models: ["gpt-4o", "gpt-4o-mini"],
  },
  { name: "anthropic", kind: "anthropic", models: ["claude-sonnet-4-6", "claude-haiku-4-5"] },
  { name: "gemini", kind: "gemini", models: ["gemini-2.5-pro", "gemini-2.5-flash"] },
] as const satisfies { name: string; kind: string; preset?: string; baseUrl?: string; models: string[] }[];

const keyNames = ["Ada’s laptop", "Nightly evaluation", "Old prototype", "Support bot", "CI"];

/** Creates usage records of the last 30 days, more of them on recent days. */
async function use(
  { database }: TestGateway["services"],
  keys: { id: string; name: string; slugs: string[] }[],
): Promise<void> {
  const random = seededRandom(7);
  const now = Date.now();
  const { owners, prices } = await database.read(async ({ users, models }) => ({
    owners: await users.list({ limit: 1 }),
    prices: new Map((await models.list()).map((model) => [model.slug, model])),
  }));
  const records = Array.from({ length: 6_000 }, () => {
    const age = (random.upTo(1_000) / 1_000) ** 1.6 * 30 * 86_400_000;
    const key = keys[random.upTo(keys.length - 1)] ?? keys[0];
    const slug = key?.slugs[random.upTo(key.slugs.length - 1)] ?? "";
    const model = prices.get(slug);
    const world = { keys: 1, models: 1, providers: 1, owners: 1 };
    const record = randomUsage(random, new Date(now - age - 1_000), world);
    const {
      inputPrice = null,
      cachedInputPrice = null,
      cacheWritePrice = null,
      outputPrice = null,
    } = model ?? {};
    const price = { inputPrice, cachedInputPrice, cacheWritePrice, outputPrice };
    return {
      ...record,
      ...price,
      apiKeyId: key?.id ?? "",
      apiKeyName: key?.name ?? "",
      ownerId: owners[0]?.id ?? null,
      model: slug,
      provider: slug.split("/")[0] ?? "",
      upstreamModel: model?.upstreamModel ?? null,
      cost: priceRequest(price, record, record.createdAt).cost,
    };
  });
  await database.write(({ usageRecords }) => usageRecords.insertAll(records));
}
