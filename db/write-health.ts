import { DatabaseUnavailableError } from "./database-errors.ts";

/** Remembers whether the last write failed, and repeats a small write until one succeeds. */
export class WriteHealth {
  /** The reason why the last write failed, or null if it succeeded. */
  trouble: string | null = null;
  /** Runs when writes begin to fail, and with null when they succeed again. */
  onChange: ((error: DatabaseUnavailableError | null) => void) | null = null;
  readonly #tryAgain: () => Promise<unknown>;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(tryAgain: () => Promise<unknown>) {
    this.#tryAgain = tryAgain;
  }

  succeeded(): void {
    if (this.trouble === null) return;
    this.trouble = null;
    clearTimeout(this.#timer);
    this.onChange?.(null);
  }

  /** Ignores errors of the data, such as duplicates, because they say nothing about the database. */
  failed(error: unknown): void {
    if (!(error instanceof DatabaseUnavailableError) || this.#isClosed) return;
    const isNew = this.trouble === null;
    this.trouble = error.message;
    // Failed writes of usage records are repeated sooner, so this write is for times without requests.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#tryAgain().catch(() => {}), tryAgainMs).unref();
    if (isNew) this.onChange?.(error);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}

const tryAgainMs = 3_000;
