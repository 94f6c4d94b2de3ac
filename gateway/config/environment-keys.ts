import { GatewayError } from "../errors.ts";
import { listPresets, type PresetOfKind } from "../providers/presets.ts";

/**
 * Keys of upstreams that were found in the environment, under the names in which the upstreams' own tools look for them.
 * Whoever prints or logs this sees none of them.
 */
export class EnvironmentKeys {
  readonly #keys: ReadonlyMap<string, FoundKey>;

  constructor(environment: Environment) {
    // Where two presets look in the same variable, the first is meant.
    this.#keys = new Map(
      findKeys(environment)
        .toReversed()
        .map((key) => [key.variable, key]),
    );
  }

  /** What they could become, given the providers that there are; in the presets' order. */
  describe(providers: readonly { kind: string; preset: string | null }[]): EnvironmentKey[] {
    const keys = [...this.#keys.values()].toReversed();
    return keys.map(({ variable, preset: { kind, name, label } }) => {
      const hasProvider = providers.some((provider) => provider.kind === kind && provider.preset === name);
      return { variable, kind, preset: name, label, hasProvider };
    });
  }

  /** The provider that a variable's key makes. Throws for a variable that has none, or no possible one. */
  toProvider(variable: string, param: string) {
    const key = this.#keys.get(variable);
    if (!key) {
      const message = `No key was found in ${variable} when the gateway started. providers.environmentKeys lists those that were.`;
      throw new GatewayError("not_found", message, { param });
    }
    if (!/^[\x21-\x7e]{1,4096}$/.test(key.apiKey)) {
      throw new GatewayError(
        "invalid_value",
        `What is in ${variable} is no key: it has spaces or line breaks.`,
        {
          param,
        },
      );
    }
    const { apiKey, baseUrl, preset } = key;
    return { name: preset.name, kind: preset.kind, preset: preset.name, baseUrl, apiKey };
  }
}

/** A variable whose key could become a provider. */
export type EnvironmentKey = {
  variable: string;
  kind: string;
  preset: string;
  label: string;
  /** Whether there is a provider of this preset already. */
  hasProvider: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

type FoundKey = { variable: string; preset: PresetOfKind; baseUrl: string; apiKey: string };

function findKeys(environment: Environment): FoundKey[] {
  return listPresets().flatMap((preset) => {
    const baseUrl = preset.baseUrl ?? addressIn(environment, preset.name);
    const [variable, value] = keyIn(environment, preset) ?? [];
    const apiKey = value?.trim();
    return baseUrl && variable && apiKey ? { variable, preset, baseUrl, apiKey } : [];
  });
}

function keyIn(
  environment: Environment,
  { name, keyVariable }: PresetOfKind,
): [variable: string, value: string] | null {
  const value = keyVariable === null ? undefined : environment[keyVariable];
  if (keyVariable !== null && value) return [keyVariable, value];
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = environment;
  // With a session token they last for hours; a provider made of them would be broken tomorrow.
  return name === "bedrock" && id && secret && !session ? ["AWS_ACCESS_KEY_ID", `${id}:${secret}`] : null;
}

/** Where the upstream is, for presets whose address is everyone's own. */
function addressIn(environment: Environment, preset: string): string | null {
  if (preset === "azure-openai") return environment["AZURE_OPENAI_ENDPOINT"] ?? null;
  const region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"];
  if (preset !== "bedrock" || region === undefined) return null;
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}
