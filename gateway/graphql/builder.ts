import SchemaBuilder from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";
import type { Person } from "../auth/person.ts";
import type { LimitHolder } from "../errors.ts";
import { holderKinds } from "../limits/holders.ts";
import type { Services } from "../services.ts";

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
      values: {
        API_KEY: { value: "apiKeyId" },
        MODEL: { value: "model" },
        PROVIDER: { value: "provider" },
        STATUS: { value: "status" },
        OWNER: { value: "ownerId", description: "The key's owner at the time of the request." },
        TOOL: { value: "clientTool" },
        ERROR_REASON: { value: "errorReason" },
      } as const,
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
