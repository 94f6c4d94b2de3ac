import type { Outputs } from "#lib/session/api.ts";

type Preset = Outputs["providers"]["presets"][number];
type ProviderKind = Preset["kind"];

export type UpstreamChoice = {
  /** The value of `from` in `/providers/new?from=…`. */
  id: string;
  kind: ProviderKind;
  preset: string | null;
  label: string;
  hint: string;
  /** Null if the choice has no default URL. */
  baseUrl: string | null;
  keyPageUrl: string | null;
  /** Whether users run the upstream themselves, as with Ollama. */
  isLocal: boolean;
  fields: Preset["fields"];
};

/** The custom provider first, then companies, local servers and the demo. */
export function toChoices(presets: Preset[]): UpstreamChoice[] {
  const known = presets.map(fromPreset);
  const [first, ...others] = known.filter(({ isLocal }) => !isLocal);
  const [ownForm, imitators] = [true, false].map((isOwn) =>
    others.filter(({ kind }) => (kind !== anyAddress.kind) === isOwn),
  );
  const local = known.filter(({ isLocal }) => isLocal);
  return [anyAddress, ...(first ? [first] : []), ...(ownForm ?? []), ...(imitators ?? []), ...local, demo];
}

/** Returns the label of the provider's preset, or the label of its kind. */
export function nameOfKind(
  { kind, kindLabel, preset }: { kind: string; kindLabel: string; preset: string | null },
  presets: Preset[],
): string {
  return presets.find((known) => known.kind === kind && known.name === preset)?.label ?? kindLabel;
}

function fromPreset({ kind, name, label, baseUrl, keyPageUrl, fields }: Preset): UpstreamChoice {
  const isLocal = keyPageUrl === null;
  return {
    id: name,
    kind,
    preset: name,
    label,
    hint: isLocal ? "Local server" : `Key from ${mainDomainOf(keyPageUrl)}`,
    baseUrl,
    keyPageUrl,
    isLocal,
    fields,
  };
}

/** A tile has room only for the main domain. The form shows the whole host. */
function mainDomainOf(url: string): string {
  return new URL(url).hostname.split(".").slice(-2).join(".");
}

const anyAddress: UpstreamChoice = {
  id: "other",
  kind: "openai-compatible",
  preset: null,
  label: "Custom OpenAI-compatible provider",
  hint: "Another company, a proxy or your own server",
  baseUrl: null,
  keyPageUrl: null,
  isLocal: false,
  fields: { baseUrl: "required", apiKey: "optional" },
};

const demo: UpstreamChoice = {
  id: "demo",
  kind: "demo",
  preset: null,
  label: "Demo",
  hint: "Built-in test provider",
  baseUrl: null,
  keyPageUrl: null,
  isLocal: false,
  fields: { baseUrl: "none", apiKey: "none" },
};
