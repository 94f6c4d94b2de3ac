/** What the page knows when it asks for a setup command. */
export type SetupInput<Tool extends string = string> = {
  tool: Tool;
  operatingSystem: OperatingSystem;
  /** As people reach the gateway, with or without `/v1` at the end. */
  baseUrl: string;
  /** A key value, or null if the command shall ask for it. */
  key: string | null;
  models: SetupModels;
};

export type OperatingSystem = "posix" | "windows";

export type SetupModels = Record<Workload, SetupModel> & {
  /** All that the key is connected to. */
  connected: SetupModel[];
};

/** Light tasks, daily use, hard tasks. */
export type Workload = "light" | "daily" | "hard";

/** What the catalogue knows of a model; null is unknown. Prices are US dollars per million tokens. */
export type SetupModel = {
  slug: string;
  contextWindow: number | null;
  outputTokensMax: number | null;
  inputPrice: number | null;
  outputPrice: number | null;
  canCallTools: boolean | null;
  isDemo: boolean;
  /** Under which name the AI SDK keeps what such models need back. */
  aiSdkName: string | null;
  /** The forms that its upstream speaks itself; in any other the gateway translates. */
  dialects: Dialect[];
};

export type Dialect = "chat" | "messages" | "responses";

/**
 * Lets only harmless text into a command, and throws `SetupInputError` for anything else: what passes has no quote, no
 * blank, no control character and nothing that means something to a shell.
 */
export function parseSetupInput<Tool extends string>(input: SetupInput<Tool>): SetupInput<Tool> {
  const { light, daily, hard, connected } = input.models;
  for (const model of [light, daily, hard, ...connected]) checkModel(model);
  if (input.key !== null && !keyPattern.test(input.key)) throw new SetupInputError(explainKey(input.key));
  return { ...input, baseUrl: parseBaseUrl(input.baseUrl) };
}

/** Its message is for the person at the page. */
export class SetupInputError extends Error {}

/** A key value of the gateway's, whose checksum the gateway itself looks at. */
const keyPattern = /^sk-gateway-[0-9A-Za-z]{49}$/;

// As in the gateway; a slash may be part of the model's name, two dots in a row may not, since some tools make paths of it.
const slugPattern = /^[a-z0-9][a-z0-9-]{0,62}\/[\w.:@+~/-]{1,191}$/;

function explainKey(key: string): string {
  if (!key.startsWith("sk-gateway-")) return "This is not a gateway key. Keys start with sk-gateway-.";
  // As people count them, not as JavaScript does.
  const { length } = [...key];
  const counts = `it has ${length} characters instead of ${keyLength}.`;
  if (length < keyLength) return `This key is incomplete: ${counts}`;
  if (length > keyLength) return `This key is too long: ${counts}`;
  return "This key contains an invalid character. After sk-gateway-, only letters and digits are allowed.";
}

const keyLength = 60;

function checkModel({ slug, contextWindow, outputTokensMax }: SetupModel): void {
  if (!slugPattern.test(slug)) throw new SetupInputError("A model slug contains invalid characters.");
  for (const count of [contextWindow, outputTokensMax]) {
    if (count !== null && !(Number.isSafeInteger(count) && count > 0)) {
      throw new SetupInputError(`The facts of ${slug} contain a count that is not a whole number.`);
    }
  }
}

/** `http://host:port/path`, without a slash at the end and without `/v1`. */
function parseBaseUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new SetupInputError("The gateway URL must start with http:// or https://.");
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new SetupInputError("The gateway URL must not contain a user name, a query or a fragment.");
  }
  // What URL leaves in a host or a path still has characters that mean something to a shell, such as $ and '.
  const address = `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(/\/v1$/, "");
  if (!/^https?:\/\/[\w.:[\]-]+(\/[\w.~-]+)*$/.test(address)) {
    throw new SetupInputError("The gateway URL contains characters that a command cannot contain.");
  }
  return address;
}
