import type { Catalogue } from "./catalogue.ts";
import { isBareName, parseSlug } from "./slug.ts";

type AskedModelsOptions = {
  catalogue: Pick<Catalogue, "find">;
  /** Milliseconds since 1970. */
  now: () => number;
  /** How many names of models that are not here are kept in an hour. */
  unknownPerHourMax: number;
};

/**
 * Under which name a request goes into the usage history. It is what the client asked for, unless that could be a text or a
 * secret. Names that are in no catalogue are made up by clients, and sums are kept by model for ever: only so many are taken.
 */
export class AskedModels {
  readonly #options: AskedModelsOptions;
  /** Those of this hour. */
  readonly #unknown = new Set<string>();
  #hour = 0;

  constructor(options: AskedModelsOptions) {
    this.#options = options;
  }

  /** Empty for what is not kept. */
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

/** A slug, or a name of the kind that models have: short words and numbers with signs between them. */
function isKeepable(text: string): boolean {
  if (keyBeginning.test(text)) return false;
  if (parseSlug(text)) return true;
  if (text.length > bareLengthMax || !isBareName(text) || !/[a-z]/i.test(text)) return false;
  // Vertex writes a version behind it; anything else there makes it an e-mail address.
  if (/@(?!\d)/.test(text)) return false;
  // A date is eight digits, a version two or three; secrets in hexadecimals have more.
  return text.replaceAll(/\D/g, "").length <= digitsMax && text.split(/[^a-z\d]+/i).every(isWord);
}

/** `8x7B` changes three times between letters and digits; what is random does so all the time, or is long. */
function isWord(text: string): boolean {
  return text.length <= wordLengthMax && (text.match(/(?<=\d)\D|(?<=\D)\d/g) ?? []).length <= 3;
}

/** OpenAI's keys, the gateway's own, and those of many others. */
const keyBeginning = /(?:^|[^a-z])sk[-_]/i;
const bareLengthMax = 64;
const wordLengthMax = 14;
const digitsMax = 12;
