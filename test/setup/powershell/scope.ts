/** The variables of a function. Functions read their callers' variables, but write only their own. */
export class Scope {
  readonly #variables = new Map<string, unknown>();
  readonly #caller: Scope | null;
  constructor(caller: Scope | null) {
    this.#caller = caller;
  }
  read(name: string): unknown {
    const key = name.toLowerCase();
    if (constants.has(key)) return constants.get(key);
    if (this.#variables.has(key)) return this.#variables.get(key);
    if (!this.#caller) throw new Error(`StrictMode: $${name} has no value.`);
    return this.#caller.read(name);
  }
  write(name: string, value: unknown): void {
    this.#variables.set(name.toLowerCase(), value ?? null);
  }
}

const constants = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
