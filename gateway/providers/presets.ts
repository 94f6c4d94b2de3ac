import type { Preset } from "./provider.ts";
import { type ProviderKindName, providerKindNames, providerKinds } from "./registry.ts";

/** A well-known upstream as a form for a new provider shows it. */
export type PresetOfKind = Required<Omit<Preset, "hint">> & {
  kind: ProviderKindName;
  hint: string | null;
  /** What the form has to ask for. A base URL that can be left out is the preset's. */
  fields: { apiKey: "required" | "optional"; baseUrl: "required" | "optional" };
};

/** The well-known upstreams of every kind, in the kinds' order: what a form for a new provider offers. */
export function listPresets(): PresetOfKind[] {
  return providerKindNames.flatMap((kind) =>
    providerKinds[kind].presets.map(({ name, label, baseUrl: own, keyPageUrl, keyVariable, hint = null }) => {
      const baseUrl = own ?? providerKinds[kind].defaultBaseUrl;
      const fields = {
        apiKey: keyVariable === null ? "optional" : "required",
        baseUrl: baseUrl === null ? "required" : "optional",
      } as const;
      return { kind, name, label, baseUrl, keyPageUrl, keyVariable, hint, fields };
    }),
  );
}

/** Null for a name that the kind does not have, or does not have any more. */
export function findPreset(kind: string, name: string | null): PresetOfKind | null {
  return listPresets().find((preset) => preset.kind === kind && preset.name === name) ?? null;
}
