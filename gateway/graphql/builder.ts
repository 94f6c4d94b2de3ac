import SchemaBuilder from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";
import type { Person } from "../auth/person.ts";
import type { LimitHolder } from "../errors.ts";
import { holderKinds } from "../limits/holders.ts";
import type { Services } from "../services.ts";
import { dimensionNames, type UsageDimension } from "../usage/usage-fields.ts";
import { dimensionWords } from "./usage-dimensions.ts";

export type GraphqlContext = {
  services: Pick<Services, "usageHistory" | "limits">;
  person: Person;
  requestId: string;
};

export function createBuilder() {
  return new SchemaBuilder<{
    Context: GraphqlContext;
    DefaultFieldNullability: false;
    DefaultEdgesNullability: false;
    DefaultNodeNullability: false;
    Scalars: {
      DateTime: { Input: Date; Output: Date };
      Decimal: { Input: never; Output: bigint };
      BigInt: { Input: never; Output: bigint };
    };
  }>({
    plugins: [RelayPlugin],
    defaultFieldNullability: false,
    relay: {
      cursorType: "String",
      nodeQueryOptions: false,
      nodesQueryOptions: false,
      edgesFieldOptions: { nullable: false },
      nodeFieldOptions: { nullable: false },
    },
  });
}

export type Builder = ReturnType<typeof createBuilder>;

export function usageEnums(builder: Builder) {
  return {
    UsageStatus: builder.enumType("UsageStatus", {
      values: ["SUCCEEDED", "FAILED", "CANCELLED", "INTERRUPTED"] as const,
    }),
    UsageDimension: builder.enumType("UsageDimension", {
      values: Object.fromEntries(
        dimensionNames.map((name) => {
          const { value, meaning } = dimensionWords[name];
          return [value, { value: name, ...(meaning !== undefined && { description: meaning }) }];
        }),
      ) as Record<string, { value: UsageDimension }>,
    }),
    UsageInterval: builder.enumType("UsageInterval", {
      description: "In UTC.",
      values: { HOUR: { value: "hour" }, DAY: { value: "day" }, MONTH: { value: "month" } } as const,
    }),
    LimitScope: builder.enumType("LimitScope", {
      description: "The holder of a limit or budget.",
      values: Object.fromEntries(
        holderKinds.map(({ kind, scope }) => [kind.toUpperCase(), { value: kind, description: scope }]),
      ) as Record<Uppercase<LimitHolder>, { value: LimitHolder; description: string }>,
    }),
  };
}

export type UsageEnums = ReturnType<typeof usageEnums>;

/** The type of a dimension's fields. Their values are text. */
export function dimensionType(name: UsageDimension, { UsageStatus }: UsageEnums): "String" {
  const type = name === "status" ? UsageStatus : name.endsWith("Id") ? "ID" : "String";
  // Pothos has no union of output types, and these types have values of the same type.
  return type as "String";
}
