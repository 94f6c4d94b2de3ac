import SchemaBuilder from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";
import type { Person } from "../auth/person.ts";
import type { Services } from "../services.ts";
import { addScalars, type ScalarTypes } from "./scalars.ts";

/** What resolvers know of the request. */
export type GraphqlContext = {
  services: Pick<Services, "usageHistory" | "limits">;
  person: Person;
  requestId: string;
};

/** The one builder that every type is added to. Fields are not null unless they say so. */
export function createBuilder() {
  const builder = new SchemaBuilder<{
    Context: GraphqlContext;
    DefaultFieldNullability: false;
    DefaultEdgesNullability: false;
    DefaultNodeNullability: false;
    Scalars: ScalarTypes;
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
  addScalars(builder);
  return builder;
}

export type Builder = ReturnType<typeof createBuilder>;
