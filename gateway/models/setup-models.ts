import type { Database } from "../../db/database.ts";
import type { Catalogue } from "../routing/catalogue.ts";
import { findModelFacts } from "../known-models/model-facts.ts";
import { findKind } from "../providers/registry.ts";
import { fromPriceColumns } from "../known-models/prices.ts";
import type { SetupModel } from "../setup/setup-input.ts";

/** Reads the models, sorted by slug. Omits unknown slugs. */
export async function readSetupModels(
  slugs: string[],
  { database, catalogue }: { database: Database; catalogue: Catalogue },
): Promise<SetupModel[]> {
  const { rows, providers } = await database.read(async (repositories) => ({
    rows: await repositories.models.findBySlugs(slugs),
    providers: await repositories.providers.list(),
  }));
  const kinds = new Map(providers.map(({ id, kind }) => [id, findKind(kind)]));
  return rows
    .toSorted((one, another) => (one.slug < another.slug ? -1 : 1))
    .map((row) => {
      const prices = fromPriceColumns(row);
      const facts = findModelFacts(row.upstreamModel);
      const { isDemo = false, aiSdkName = null } = kinds.get(row.providerId) ?? {};
      return {
        slug: row.slug,
        contextWindow: row.contextWindowTokens,
        outputTokensMax: row.outputTokensMax,
        inputPrice: prices.input ?? null,
        outputPrice: prices.output ?? null,
        canCallTools: facts ? facts.capabilities.includes("tools") : null,
        isDemo,
        aiSdkName,
        dialects: dialectsOf(catalogue, row.slug),
      };
    });
}

function dialectsOf(catalogue: Catalogue, slug: string): SetupModel["dialects"] {
  const apis = catalogue.find(slug)?.candidates[0]?.[0]?.apis;
  return [
    ...(apis?.["chat/completions"]?.quirks === null ? [] : (["chat"] as const)),
    ...(apis?.messages ? (["messages"] as const) : []),
    ...(apis?.responses ? (["responses"] as const) : []),
  ];
}
