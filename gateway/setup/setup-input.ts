export type SetupInput<Tool extends string = string> = {
  tool: Tool;
  operatingSystem: OperatingSystem;
  /** The gateway's URL, with or without `/v1`. */
  baseUrl: string;
  /** A key value, or null to leave it out of the command. */
  key: string | null;
  models: SetupModels;
};

export type OperatingSystem = "posix" | "windows";

export type SetupModels = Record<Workload, SetupModel> & {
  connected: SetupModel[];
};

export type Workload = "light" | "daily" | "hard";

/** Null means unknown. Prices are in US dollars per million tokens. */
export type SetupModel = {
  slug: string;
  contextWindow: number | null;
  outputTokensMax: number | null;
  inputPrice: number | null;
  outputPrice: number | null;
  canCallTools: boolean | null;
  isDemo: boolean;
  /** The name under which the AI SDK stores the provider's data, such as signatures. */
  aiSdkName: string | null;
  /** The dialects that the model's upstream supports. The gateway translates requests in other dialects. */
  dialects: Dialect[];
};

export type Dialect = "chat" | "messages" | "responses";

/** Throws `SetupInputError` for an invalid model, key or URL. */
export function parseSetupInput<Tool extends string>(input: SetupInput<Tool>): SetupInput<Tool> {
  const { light, daily, hard, connected } = input.models;
  for (const model of [light, daily, hard, ...connected]) checkModel(model);
  if (input.key !== null && !keyPattern.test(input.key)) throw new SetupInputError(explainKey(input.key));
  return { ...input, baseUrl: parseBaseUrl(input.baseUrl) };
}

/** The message is for the user. */
export class SetupInputError extends Error {}

/** Matches only the format, because the gateway verifies the checksum. */
const keyPattern = /^sk-gateway-[0-9A-Za-z]{49}$/;

// Repeats the pattern of `routing/slug.ts`, because the console's bundle contains no file of `routing`.
const slugPattern = /^[a-z0-9][a-z0-9-]{0,62}\/[\w.:@+~/-]{1,191}$/;

function explainKey(key: string): string {
  if (!key.startsWith("sk-gateway-"))
    return "This is not a gateway key. Enter a key that starts with sk-gateway-.";
  // The length counts characters, not UTF-16 units.
  const { length } = [...key];
  const counts = `it has ${length} characters instead of ${keyLength}. Paste the whole key, and only the key.`;
  if (length < keyLength) return `This key is incomplete: ${counts}`;
  if (length > keyLength) return `This key is too long: ${counts}`;
  return "This key contains an invalid character. Use only letters and digits after sk-gateway-.";
}

const keyLength = 60;

/** Throws `SetupInputError` for an invalid slug or token count. */
export function checkModel({ slug, contextWindow, outputTokensMax }: SetupModel): void {
  if (!slugPattern.test(slug))
    throw new SetupInputError("A model slug is invalid. Copy the slug from the list of models.");
  for (const count of [contextWindow, outputTokensMax]) {
    if (count !== null && !(Number.isSafeInteger(count) && count > 0)) {
      throw new SetupInputError(
        `The token count ${count} of ${slug} is not a positive whole number. Correct the count on the model's page.`,
      );
    }
  }
}

/** Removes trailing slashes and `/v1`. Throws `SetupInputError` for an invalid URL. */
export function parseBaseUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new SetupInputError(
      "The gateway URL is invalid. Enter a URL that starts with http:// or https://.",
    );
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new SetupInputError(
      "The gateway URL contains a user name, a query or a fragment. Enter only the scheme, host and path.",
    );
  }
  // `URL` accepts $ and ' in hosts and paths, but a shell interprets both.
  const address = `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(/\/v1$/, "");
  if (!/^https?:\/\/[\w.:[\]-]+(\/[\w.~-]+)*$/.test(address)) {
    throw new SetupInputError(
      "The gateway URL contains invalid characters. In the host and path, use only letters, digits, dots, hyphens and underscores.",
    );
  }
  return address;
}
