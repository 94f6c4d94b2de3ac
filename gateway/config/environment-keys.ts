import { GatewayError } from "../errors.ts";
import { type ProviderKindName, providerKindNames, providerKinds } from "../providers/registry.ts";
import type { Environment, Preset } from "../providers/provider.ts";

/** Provider keys in the variables of the providers' own tools. The private field keeps them out of logs. */
export class EnvironmentKeys {
  readonly #keys: ReadonlyMap<string, FoundKey>;

  constructor(environment: Environment) {
    // The first of two presets with the same variable wins.
    this.#keys = new Map(
      findKeys(environment)
        .toReversed()
        .map((key) => [key.variable, key]),
    );
  }

  /** Lists the keys in the order of the presets. */
  describe(providers: readonly { kind: string; preset: string | null }[]) {
    const keys = [...this.#keys.values()].toReversed();
    return keys.map(({ variable, kind, preset: { name, label } }) => {
      const hasProvider = providers.some((provider) => provider.kind === kind && provider.preset === name);
      return { variable, kind, preset: name, label, hasProvider };
    });
  }

  /** Throws `not_found` for a variable without a key, and `invalid_value` for an invalid key. */
  toProvider(variable: string, param: string) {
    const key = this.#keys.get(variable);
    if (!key) {
      const message = `${variable} contained no key when the gateway started. Use a variable from providers.environmentKeys.`;
      throw new GatewayError("not_found", message, { param });
    }
    if (!/^[\x21-\x7e]{1,4096}$/.test(key.apiKey)) {
      const message = `${variable} contains an invalid key. Use printable ASCII characters without spaces or line breaks.`;
      throw new GatewayError("invalid_value", message, { param });
    }
    const { apiKey, baseUrl, kind, preset } = key;
    return { name: preset.name, kind, preset: preset.name, baseUrl, apiKey };
  }
}

export type EnvironmentKey = ReturnType<EnvironmentKeys["describe"]>[number];

type FoundKey = {
  variable: string;
  kind: ProviderKindName;
  preset: Pick<Preset, "name" | "label">;
  baseUrl: string;
  apiKey: string;
};

function findKeys(environment: Environment): FoundKey[] {
  return providerKindNames.flatMap((kind) =>
    providerKinds[kind].presets.flatMap((preset) => {
      const { baseUrl: own, keyVariable } = preset;
      const found = preset.readEnvironment?.(environment);
      const baseUrl = own ?? providerKinds[kind].defaultBaseUrl ?? found?.baseUrl;
      const value = keyVariable === null ? undefined : environment[keyVariable];
      const [variable, key] = (value ? [keyVariable, value] : found?.key) ?? [];
      const apiKey = key?.trim();
      return baseUrl && variable && apiKey ? { variable, kind, preset, baseUrl, apiKey } : [];
    }),
  );
}
