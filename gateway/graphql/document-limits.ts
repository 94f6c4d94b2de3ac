import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { GatewayError } from "../errors.ts";

/**
 * Refuses documents that would cost much, before anything is done with them that costs more than their length. Fragments
 * count where they are spread, each worked out once, so that a few that spread one another do not take for ever.
 */
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
    if (depth > depthMax) throw tooMuch(`fields more than ${depthMax} deep`);
    if (aliases > aliasesMax) throw tooMuch(`more than ${aliasesMax} aliases`);
    if (fields > fieldsMax) throw tooMuch(`more than ${fieldsMax} fields`);
    if (cost > costMax)
      throw tooMuch(`a cost of more than ${costMax}, where every field of every row costs 1`);
  }
  // What no operation spreads is checked too, as it is validated with the rest.
  for (const { selectionSet } of fragments.values()) {
    if (meter.measure(selectionSet).fields > fieldsMax) throw tooMuch(`more than ${fieldsMax} fields`);
  }
}

/** What a parser may read of a document; the introspection of well-known tools has some 400. */
export const documentTokensMax = 1_000;

const operationsMax = 5;
/** Introspection asks for types of types nine deep. */
const depthMax = 16;
const aliasesMax = 15;
const fieldsMax = 250;
/** A page of 500 records with all their fields costs 18,000. */
const costMax = 30_000;
/** A summary reads some thousand rows, whatever is asked of them. */
const summaryCost = 1_000;
/** Rows that a list is taken to have where the document does not say. */
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

  /** A variable may be anything up to the most that is allowed. */
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
    // One that is not there, or within itself, is refused by the validation.
    if (!fragment || this.#open.has(name)) return nothing;
    this.#open.add(name);
    const measure = this.measure(fragment.selectionSet);
    this.#open.delete(name);
    this.#measured.set(name, measure);
    return measure;
  }
}

function tooMuch(what: string): GatewayError {
  return new GatewayError("invalid_value", `The query has ${what}. Ask for less at once.`);
}
