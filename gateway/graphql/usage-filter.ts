import type { UsageWish } from "../usage/history/usage-history.ts";
import type { Builder } from "./builder.ts";
import type { UsageEnums } from "./usage-enums.ts";

export function usageFilterType(builder: Builder, { UsageStatus }: UsageEnums) {
  return builder.inputType("UsageFilter", {
    description: "Which usage: what meets all that is given.",
    fields: (t) => ({
      apiKeyId: t.id(),
      model: t.string({ description: "A model, as records name it; empty for those that name none." }),
      provider: t.string({ description: "A provider's name." }),
      status: t.field({ type: UsageStatus }),
      from: t.field({ type: "DateTime", description: "Requests made at this moment or later." }),
      to: t.field({ type: "DateTime", description: "Requests made before this moment." }),
    }),
  });
}

/** Not given and null are the same. */
export function toWish(filter: GivenFilter | null | undefined): UsageWish {
  const given = Object.entries(filter ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given) as UsageWish;
}

type GivenFilter = { [Name in keyof UsageWish]: UsageWish[Name] | null };
