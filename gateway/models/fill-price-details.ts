import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../db/database.ts";
import type { ModelRow } from "../../db/entities/model.ts";
import type { PriceDetails } from "../../db/entities/price-details.ts";
import { findKnownModel, type Seller } from "../known-models/known-models.ts";
import { toPriceColumns } from "../known-models/prices.ts";
import type { Runtime } from "../runtime.ts";
import { sellerOf } from "./discovered-models.ts";

/**
 * Fills missing price details of models from earlier releases. The details stay empty unless the model's prices
 * equal the known prices.
 */
export async function fillPriceDetails(
  database: Database,
  { now, log }: Pick<Runtime, "now" | "log">,
): Promise<void> {
  const rows = await database.read(({ models }) => models.list());
  const old = rows.filter(({ priceDetails }) => priceDetails === null);
  if (old.length === 0) return;
  const providers = await database.read((repositories) => repositories.providers.list());
  const sellers = new Map(providers.map((provider) => [provider.id, sellerOf(provider, now())]));
  const filled: ModelRow[] = [];
  for (const row of old)
    filled.push({ ...row, priceDetails: await knownDetails(row, sellers.get(row.providerId)) });
  await database.write(async ({ models, changes }) => {
    await changes.lock();
    const current = new Map((await models.list()).map((row) => [row.id, row]));
    for (const row of filled) {
      // Another process or an administrator has changed the model.
      if (!isDeepStrictEqual(current.get(row.id), { ...row, priceDetails: null })) continue;
      await models.update(row.id, { priceDetails: row.priceDetails });
      await changes.append("catalogue", row.id, new Date(now()));
    }
  });
  log.info({ models: old.length }, "added known prices to the models of an earlier release");
}

async function knownDetails(row: ModelRow, seller: Seller | undefined): Promise<PriceDetails> {
  const nothing = { prices: {}, rules: [] };
  const known = seller && (await findKnownModel(seller, row.upstreamModel));
  if (!known) return nothing;
  const { priceDetails, ...usual } = toPriceColumns(known.prices);
  const isSame = Object.entries(usual).every(([name, price]) => row[name as keyof typeof usual] === price);
  return (isSame && priceDetails) || nothing;
}
