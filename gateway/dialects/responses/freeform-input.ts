import { isObject } from "../../wire/json.ts";

/**
 * Reads a custom tool's input from its function's arguments, `{"input":"…"}`, piece by piece. Clients would
 * time out if a long input caused no events before its end.
 */
export class FreeformInput {
  #state: "before" | "within" | "after" | "unknown" = "before";
  #rest = "";
  /** The first half of a surrogate pair, which JSON may write as two escapes. */
  #half = "";
  #read = "";

  /** Returns the new part of the input. */
  push(piece: string): string {
    if (this.#state === "after") return "";
    this.#rest += piece;
    if (this.#state === "before") this.#begin();
    return this.#state === "within" ? this.#readOn() : "";
  }

  /** `text` is the whole input. `remaining` is the part that `push` has not returned. */
  finish(): { text: string; remaining: string } {
    const remaining =
      this.#state === "before" || this.#state === "unknown" ? parseInput(this.#rest) : this.#half;
    return { text: this.#read + remaining, remaining };
  }

  #begin(): void {
    const opening = /^\s*\{\s*"input"\s*:\s*"/.exec(this.#rest);
    if (opening) {
      this.#rest = this.#rest.slice(opening[0].length);
      this.#state = "within";
    } else if (this.#rest.length > openingLengthMax) this.#state = "unknown";
  }

  #readOn(): string {
    let text = this.#half;
    let at = 0;
    while (at < this.#rest.length) {
      const next = this.#rest.slice(at).search(/["\\]/);
      const end = next === -1 ? this.#rest.length : at + next;
      text += this.#rest.slice(at, end);
      at = end;
      if (this.#rest[at] === '"') {
        this.#state = "after";
        break;
      }
      const escape = /^\\(?:u([\da-f]{4})|([^u]))/i.exec(this.#rest.slice(at, at + escapeLengthMax));
      if (escape === null) {
        if (this.#rest.length - at < escapeLengthMax) break;
        // An invalid escape is kept as written.
        text += this.#rest.slice(at, ++at);
        continue;
      }
      const [whole, code, character = ""] = escape;
      text +=
        code === undefined ? (escapes.get(character) ?? character) : String.fromCharCode(parseInt(code, 16));
      at += whole.length;
    }
    this.#rest = this.#state === "after" ? "" : this.#rest.slice(at);
    const isHalf = this.#state === "within" && /[\ud800-\udbff]$/.test(text);
    this.#half = isHalf ? text.slice(-1) : "";
    const complete = isHalf ? text.slice(0, -1) : text;
    this.#read += complete;
    return complete;
  }
}

/** Reads the input from arguments that do not start with `{"input":"`, such as a plain string. */
function parseInput(args: string): string {
  try {
    const parsed: unknown = JSON.parse(args);
    if (typeof parsed === "string") return parsed;
    if (isObject(parsed) && typeof parsed["input"] === "string") return parsed["input"];
  } catch {
    // Arguments that are not JSON may be the input itself.
  }
  return args;
}

const escapes = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
]);

/** The length of a `\u` escape, such as `\u00e4`. */
const escapeLengthMax = 6;
const openingLengthMax = 64;
