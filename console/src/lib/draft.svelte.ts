import { explainError } from "#lib/session/explain-error.ts";
import { typedSince } from "#lib/typed-since.ts";

/**
 * An edit of an entity that other users can also edit. If another user saves first, `conflict` holds the current
 * version until the user resolves the conflict.
 */
export class Draft<Thing extends { revision: number }, Name extends string> {
  text: Record<Name, string>;
  conflict = $state<Thing | null>(null);
  error = $state<unknown>(null);
  isSaving = $state(false);
  #began: Thing;
  readonly #read: (thing: Thing) => Record<Name, string>;

  constructor(thing: Thing, read: (thing: Thing) => Record<Name, string>) {
    this.#began = $state.raw(thing);
    this.#read = read;
    this.text = $state(read(thing));
  }

  /** The fields that differ from the start of the edit. */
  get changed(): Name[] {
    const before = this.#read(this.#began);
    return this.#names().filter((name) => this.text[name].trim() !== before[name]);
  }

  get isChanged(): boolean {
    return this.changed.length > 0;
  }

  /** Adopts a newer version, unless a field was edited or a conflict is unresolved. */
  follow(thing: Thing): void {
    const isNewer = thing.revision > this.#began.revision;
    if (isNewer && !this.isChanged && this.conflict === null) this.reset(thing);
  }

  reset(thing: Thing = this.#began): void {
    this.#began = thing;
    Object.assign(this.text, this.#read(thing));
    this.conflict = null;
    this.error = null;
  }

  /** Returns the saved version, or null if a save is already running or fails (see `error` and `conflict`). */
  async save({ send, readCurrent }: DraftCalls<Thing, Name>): Promise<Thing | null> {
    if (this.isSaving) return null;
    this.isSaving = true;
    this.error = null;
    try {
      const sent = { ...this.text };
      const saved = await send(this.changed, this.#began.revision);
      const later = typedSince(sent, this.text);
      this.reset(saved);
      Object.assign(this.text, later);
      return saved;
    } catch (error) {
      this.error = error;
      if (explainError(error).currentRevision !== null) await this.#meet(readCurrent);
      return null;
    } finally {
      this.isSaving = false;
    }
  }

  /** The other user's changes, field by field. */
  get theirs(): { name: Name; theirs: string; yours: string; isBoth: boolean }[] {
    if (this.conflict === null) return [];
    const before = this.#read(this.#began);
    const now = this.#read(this.conflict);
    return this.#names()
      .filter((name) => now[name] !== before[name])
      .map((name) => {
        const yours = this.text[name].trim();
        return { name, theirs: now[name], yours, isBoth: yours !== before[name] && yours !== now[name] };
      });
  }

  /** Applies this user's changes to the version in `conflict`, without saving the result. */
  keepMine(): void {
    const { conflict, changed } = this;
    if (conflict === null) return;
    const mine = Object.fromEntries(changed.map((name) => [name, this.text[name]]));
    this.reset(conflict);
    Object.assign(this.text, mine);
  }

  async #meet(readCurrent: () => Promise<Thing>): Promise<void> {
    try {
      this.conflict = await readCurrent();
      this.error = null;
    } catch (error) {
      this.error = error;
    }
  }

  #names(): Name[] {
    return Object.keys(this.text) as Name[];
  }
}

type DraftCalls<Thing, Name> = {
  send: (changed: Name[], revision: number) => Promise<Thing>;
  readCurrent: () => Promise<Thing>;
};
