/** Converts the OpenAPI document for the page. Throws a TypeError if a required member is missing. */
export function readReference(document: OpenApiDocument): Reference {
  const schemas = document.components.schemas;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => toOperation(schemas, { path, method, operation })),
  );
  return {
    paragraphs: document.info.description.split("\n\n"),
    groups: document.tags.map(({ name, description }) => ({
      name,
      description,
      operations: operations.filter(({ tag }) => tag === name),
    })),
  };
}

export type Reference = { paragraphs: string[]; groups: Group[] };

type Group = { name: string; description: string; operations: Operation[] };

export type Operation = {
  id: string;
  tag: string;
  method: string;
  path: string;
  title: string;
  description: string;
  needsKey: boolean;
  parameters: Row[];
  example: object | null;
  /** Whether the body is a form, in whose example a file is `@` and its path. */
  isForm: boolean;
  answer: Row[];
  stream: string | null;
  /** The URL of the vendor's documentation of the body, if any. */
  origin: string | null;
  errors: { status: string; reasons: string[] }[];
};

/** A parameter, or a member of a body. The name of a nested member is its path. */
export type Row = { name: string; type: string; isRequired: boolean; description: string };

function toOperation(schemas: Schemas, { path, method, operation }: Found): Operation {
  const [contentType, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const request = body && resolve(schemas, body.schema);
  const { 200: success, ...failures } = operation.responses;
  const answer = success?.content["application/json"]?.schema;
  return {
    id: operation.operationId,
    tag: operation.tags[0] ?? "",
    method: method.toUpperCase(),
    path,
    title: operation.summary,
    description: operation.description,
    needsKey: operation.security === undefined,
    parameters: request ? toRows(schemas, request) : (operation.parameters ?? []).map(toRow),
    example: body?.example ?? null,
    isForm: contentType === "multipart/form-data",
    answer: answer ? toRows(schemas, resolve(schemas, answer)) : [],
    stream: success?.content["text/event-stream"]?.schema.description ?? null,
    origin: request?.externalDocs?.url ?? null,
    errors: Object.entries(failures).map(([status, { description }]) => ({
      status,
      reasons: description.split("\n\n"),
    })),
  };
}

function toRow({ name, required = false, description = "", schema }: Parameter): Row {
  return { name, type: describeType(schema), isRequired: required, description };
}

function toRows(schemas: Schemas, schema: Schema, prefix = ""): Row[] {
  const { properties, anyOf: forms } = schema;
  if (!properties && forms) return forms.flatMap((form) => toRows(schemas, resolve(schemas, form), prefix));
  return Object.entries(properties ?? {}).flatMap(([key, reference]) => {
    const property = resolve(schemas, reference);
    const name = prefix + key;
    const isRequired = schema.required?.includes(key) ?? false;
    const row = { name, type: describeType(property), isRequired, description: property.description ?? "" };
    const items = property.items && resolve(schemas, property.items);
    return [
      row,
      ...toRows(schemas, property, `${name}.`),
      ...(items ? toRows(schemas, items, `${name}[].`) : []),
    ];
  });
}

/** Returns a readable type, such as `integer, 1 or more` or `string or array`. */
function describeType({ type, enum: values, const: value, anyOf, minimum, maximum }: Schema): string {
  if (value !== undefined) return JSON.stringify(value);
  if (values) return values.map((each) => JSON.stringify(each)).join(" or ");
  if (anyOf) return [...new Set(anyOf.map(describeType))].join(" or ");
  const names = [type ?? "any"].flat().join(" or ");
  if (minimum === undefined) return names;
  return maximum === undefined ? `${names}, ${minimum} or more` : `${names}, ${minimum} to ${maximum}`;
}

function resolve(schemas: Schemas, schema: Schema): Schema {
  const { $ref } = schema;
  return $ref === undefined ? schema : (schemas[$ref.slice($ref.lastIndexOf("/") + 1)] ?? {});
}

export type OpenApiDocument = {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, DocumentOperation>>;
  components: { schemas: Schemas };
};

type Found = { path: string; method: string; operation: DocumentOperation };

type DocumentOperation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security?: [];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content: Content }>;
};

type Content = Record<string, { schema: Schema; example?: object }>;
type Parameter = { name: string; required?: boolean; description?: string; schema: Schema };
type Schemas = Record<string, Schema>;

type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  externalDocs?: { url: string };
};
