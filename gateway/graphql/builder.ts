import SchemaBuilder from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";
import type { Person } from "../auth/person.ts";
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
