import type { Catalogue } from "./catalogue.ts";
import { isBareName, parseSlug } from "./slug.ts";

type RecordedModelNamesOptions = {
  catalogue: Pick<Catalogue, "find">;
  /** Milliseconds since 1970. */
  now: () => number;
  unknownPerHourMax: number;
};

/**
 * Selects the model name for a usage record. Clients invent names, and the usage roll-ups keep them forever, so
 * the number of unknown names is limited. Omits text that looks like a secret.
 */
export class RecordedModelNames {
  readonly #options: RecordedModelNamesOptions;
  readonly #unknown = new Set<string>();
  #hour = 0;

  constructor(options: RecordedModelNamesOptions) {
    this.#options = options;
  }

  /** Empty for a name that is not recorded. */
  nameOf(asked: unknown): string {
    if (typeof asked !== "string") return "";
    if (this.#options.catalogue.find(asked)) return asked;
    return isKeepable(asked) && this.#hasRoomFor(asked) ? asked : "";
  }

  #hasRoomFor(name: string): boolean {
    const hour = Math.floor(this.#options.now() / 3_600_000);
    if (hour !== this.#hour) this.#unknown.clear();
    this.#hour = hour;
    if (this.#unknown.size < this.#options.unknownPerHourMax) this.#unknown.add(name);
    return this.#unknown.has(name);
  }
}

/** Whether the text is a slug, or a typical model name: short words and numbers with separators. */
function isKeepable(text: string): boolean {
  if (keyBeginning.test(text)) return false;
  if (parseSlug(text)) return true;
  if (text.length > bareLengthMax || !isBareName(text) || !/[a-z]/i.test(text)) return false;
  // Vertex AI appends a version after `@`. Other text after `@` suggests an email address.
  if (/@(?!\d)/.test(text)) return false;
  // A date has eight digits and a version two or three. Hexadecimal secrets have more.
  return text.replaceAll(/\D/g, "").length <= digitsMax && text.split(/[^a-z\d]+/i).every(isWord);
}

/** `8x7B` switches three times between letters and digits. Random text switches more often or is longer. */
function isWord(text: string): boolean {
  return text.length <= wordLengthMax && (text.match(/(?<=\d)\D|(?<=\D)\d/g) ?? []).length <= 3;
}

/** The keys of the gateway, OpenAI and many other providers start with `sk-`. */
const keyBeginning = /(?:^|[^a-z])sk[-_]/i;
const bareLengthMax = 64;
const wordLengthMax = 14;
const digitsMax = 12;
