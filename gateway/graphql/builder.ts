import SchemaBuilder from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";
import type { Person } from "../auth/person.ts";
import type { Services } from "../services.ts";

/** What resolvers know of the request. */
export type GraphqlContext = {
  services: Pick<Services, "usageHistory" | "limits">;
  person: Person;
  requestId: string;
};

/** The one builder that every type is added to. Fields are not null unless they say so. */
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
