/**
 * Creates unique names for a request's documents, in characters that Bedrock accepts.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
 */
export class DocumentNames {
  readonly #taken = new Set<string>();
  /** The last number used for each base name. */
  readonly #numbers = new Map<string, number>();

  choose(filename: string): string {
    const words = toWords(filename);
    let number = this.#numbers.get(words.toLowerCase()) ?? 0;
    let name: string;
    do {
      number++;
      name = number === 1 ? words : `${words} ${number}`;
    } while (this.#taken.has(name.toLowerCase()));
    this.#numbers.set(words.toLowerCase(), number);
    this.#taken.add(name.toLowerCase());
    return name;
  }
}

function toWords(filename: string): string {
  const words = filename
    .slice(-filenameLengthMax)
    .replace(/\.\w{1,5}$/, "")
    .replaceAll(/[^a-zA-Z0-9()[\]-]+/g, " ")
    .trim();
  return words.slice(0, wordsLengthMax).trimEnd() || "document";
}

/** All file systems have shorter names. */
const filenameLengthMax = 1_024;

/** A name may have 200 characters. Ten are reserved for a number. */
const wordsLengthMax = 190;
