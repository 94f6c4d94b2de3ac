import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { GatewayError } from "../errors.ts";

/** Rejects expensive documents. A fragment counts at each spread, but is measured once, in linear time. */
export function checkDocument(document: DocumentNode, recordsPerPageMax: number): void {
  const fragments = new Map(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((definition) => [definition.name.value, definition]),
  );
  const meter = new Meter(fragments, recordsPerPageMax);
  const operations = document.definitions.filter(
    (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
  );
  if (operations.length > operationsMax) throw tooMuch(`more than ${operationsMax} operations`);
  for (const { selectionSet } of operations) {
    const { depth, cost, fields, aliases } = meter.measure(selectionSet);
    if (depth > depthMax) throw tooMuch(`fields nested more than ${depthMax} deep`);
    if (aliases > aliasesMax) throw tooMuch(`more than ${aliasesMax} aliases`);
    if (fields > fieldsMax) throw tooMuch(`more than ${fieldsMax} fields`);
    if (cost > costMax) throw tooMuch(`a cost of more than ${costMax} (each field of each row costs 1)`);
  }
  // Unused fragments are checked too, because validation includes them.
  for (const { selectionSet } of fragments.values()) {
    if (meter.measure(selectionSet).fields > fieldsMax) throw tooMuch(`more than ${fieldsMax} fields`);
  }
}

/** The introspection query of GraphQL's library has fewer than 200 tokens. */
export const documentTokensMax = 1_000;

const operationsMax = 5;
/** The introspection query of GraphQL's library is 15 fields deep. */
const depthMax = 16;
const aliasesMax = 15;
const fieldsMax = 250;
/** A page of 500 records with all their fields costs 27,001. */
const costMax = 30_000;
/** A summary has a fixed cost, because the document does not show how many rows it reads. */
const summaryCost = 6_000;
/** The assumed lengths of introspection lists. */
const listRows = new Map(Object.entries({ types: 10, fields: 10, args: 3, inputFields: 5, enumValues: 5 }));

type Measure = { depth: number; cost: number; fields: number; aliases: number };

const nothing: Measure = { depth: 0, cost: 0, fields: 0, aliases: 0 };

class Meter {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #recordsPerPageMax: number;
  readonly #measured = new Map<string, Measure>();
  readonly #open = new Set<string>();

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>, recordsPerPageMax: number) {
    this.#fragments = fragments;
    this.#recordsPerPageMax = recordsPerPageMax;
  }

  measure(selectionSet: SelectionSetNode): Measure {
    const total = { ...nothing };
    for (const selection of selectionSet.selections) {
      const part =
        selection.kind === Kind.FIELD
          ? this.#measureField(selection)
          : selection.kind === Kind.INLINE_FRAGMENT
            ? this.measure(selection.selectionSet)
            : this.#measureFragment(selection.name.value);
      total.depth = Math.max(total.depth, part.depth);
      total.cost += part.cost;
      total.fields += part.fields;
      total.aliases += part.aliases;
    }
    return total;
  }

  #measureField(field: FieldNode): Measure {
    const inner = field.selectionSet ? this.measure(field.selectionSet) : nothing;
    const name = field.name.value;
    const rows = name === "usageRecords" ? this.#rowsOf(field) : (listRows.get(name) ?? 1);
    return {
      depth: inner.depth + 1,
      cost: (name === "usageSummary" ? summaryCost : 1) + rows * inner.cost,
      fields: inner.fields + 1,
      aliases: inner.aliases + (field.alias ? 1 : 0),
    };
  }

  /** A page's assumed length. A variable counts as the maximum, because its value is unknown here. */
  #rowsOf(field: FieldNode): number {
    const first = field.arguments?.find(({ name }) => name.value === "first");
    if (!first) return 50;
    const rows = first.value.kind === Kind.INT ? Number(first.value.value) : this.#recordsPerPageMax;
    return Math.min(Math.max(rows, 1), this.#recordsPerPageMax);
  }

  #measureFragment(name: string): Measure {
    const known = this.#measured.get(name);
    if (known) return known;
    const fragment = this.#fragments.get(name);
    // Validation will reject missing and recursive fragments.
    if (!fragment || this.#open.has(name)) return nothing;
    this.#open.add(name);
    const measure = this.measure(fragment.selectionSet);
    this.#open.delete(name);
    this.#measured.set(name, measure);
    return measure;
  }
}

function tooMuch(what: string): GatewayError {
  return new GatewayError("invalid_value", `The query has ${what}. Split the query, or request less.`);
}
