import { GatewayError } from "../errors.ts";
import { scanMembers } from "../wire/json-layout.ts";
import { foldName } from "./fold-name.ts";
import { modelNests, otherModel, otherModelMembers } from "./other-models.ts";
import type { Parameters } from "./parameter-checks.ts";

/** The number of an object's keys and their length, as they stand in its bytes. */
type WalkedKeys = { count: number; bytes: number };

/** The members of an endpoint's requests whose names matter to the gateway; all others pass unseen. */
export class RequestMembers {
  readonly #read: ReadonlySet<string>;
  /** Every name, by what decoders make of it that fold case. */
  readonly #byFolded: ReadonlyMap<string, string>;
  readonly #lengthMax: number;

  constructor(read: readonly string[], refused: readonly string[]) {
    const names = [...read, ...refused];
    this.#read = new Set(read);
    this.#byFolded = new Map(names.map((name) => [foldName(name), name]));
    this.#lengthMax = Math.max(...names.map((name) => name.length));
  }

  /**
   * Throws as `checkKeys`, and for a name with escapes. Returns whether a name occurs twice: upstreams may take either.
   * @param bytes the object as it was sent, of which `body` is the value
   */
  check(bytes: Buffer, body: Record<string, unknown>, walked: WalkedKeys): boolean {
    const keys = Object.keys(body);
    const length = this.checkKeys(body, keys);
    // They differ where keys have escapes or characters beyond ASCII, or occur twice.
    return (keys.length !== walked.count || length !== walked.bytes) && this.#doublesAny(bytes);
  }

  /**
   * Throws `invalid_value` for another spelling of a name, which the upstream could take for it, and for a member that
   * chooses another model. Returns how long all keys are.
   */
  checkKeys(object: Record<string, unknown>, keys: string[]): number {
    let length = 0;
    for (const key of keys) {
      length += key.length;
      if (this.#read.has(key) || key.length > this.#lengthMax) continue;
      const name = this.#byFolded.get(foldName(key));
      if (name === undefined) continue;
      if (key !== name) throw misspelled(key, name);
      if (object[name] !== null) throw otherModel(name);
    }
    return length;
  }

  #doublesAny(bytes: Buffer): boolean {
    const seen = new Set<string>();
    let isDoubled = false;
    scanMembers(bytes, 0, bytes.length, Infinity, (keyStart, keyEnd) => {
      if (keyEnd - keyStart > this.#lengthMax * longestEscape) return;
      const spelling = bytes.toString("utf8", keyStart, keyEnd);
      const key = spelling.includes("\\") ? String(JSON.parse(`"${spelling}"`)) : spelling;
      const name = key.length > this.#lengthMax ? undefined : this.#byFolded.get(foldName(key));
      if (name === undefined) return;
      if (spelling !== name) throw misspelled(spelling, name);
      isDoubled ||= seen.has(name);
      seen.add(name);
    });
    return isDoubled;
  }
}

/** The parameters that are checked, and the members where a model can be named. */
export function requestMembers(...checked: Parameters[]): RequestMembers {
  return new RequestMembers([...checked.flat().map(([name]) => name), ...modelNests], otherModelMembers);
}

function misspelled(spelling: string, name: string): GatewayError {
  const param = spelling.replaceAll(/[^\x21-\x7e]/g, escape);
  const message = `The parameter '${param}' is another spelling of '${name}'. Write it exactly as '${name}'.`;
  return new GatewayError("invalid_value", message, { param });
}

function escape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The bytes of `\u006d`. */
const longestEscape = 6;
