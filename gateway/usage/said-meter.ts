import { TokenMeter } from "./token-meter.ts";

/**
 * Counts what a model has said in JSON that passes, without parsing it: the strings that stand behind certain names. In a
 * stream most events are alike up to where the text begins, and then only the text itself is looked at.
 */
export class SaidMeter {
  readonly #meter = new TokenMeter();
  readonly #names: RegExp;
  /** The last event up to where its text begins. */
  #lead = "";

  /** @param names a global pattern that ends with the opening quote of what is said */
  constructor(names: RegExp) {
    this.#names = names;
  }

  get tokens(): number {
    return this.#meter.tokens;
  }

  /** @param text bytes of UTF-8, one character a byte, with a JSON object from `start` to `end` */
  read(text: string, start: number, end: number): void {
    if (this.#lead !== "" && text.startsWith(this.#lead, start)) {
      this.#meter.addJson(text, start + this.#lead.length);
      return;
    }
    const event = text.slice(start, end);
    let first = 0;
    let count = 0;
    this.#names.lastIndex = 0;
    for (let found = this.#names.exec(event); found; found = this.#names.exec(event)) {
      const saidAt = found.index + found[0].length;
      if (count++ === 0) first = saidAt;
      this.#names.lastIndex = this.#meter.addJson(event, saidAt);
    }
    // Copied, because a slice would keep the whole text alive.
    this.#lead = count === 1 ? Buffer.from(event.slice(0, first), "latin1").toString("latin1") : "";
  }
}

/** Where chat completions say something, whole or in chunks, also those of imitators that think aloud. */
export const chatNames = () => /"(?:content|reasoning_content|reasoning|refusal|arguments)"\s*:\s*"/g;

/** The same in the events of Anthropic's messages and OpenAI's responses that add to what is there. */
export const deltaNames = () => /"(?:text|thinking|partial_json|delta)"\s*:\s*"/g;

/** The same in whole answers of every form. */
export const answerNames = () =>
  /"(?:content|reasoning_content|reasoning|refusal|arguments|text|thinking)"\s*:\s*"/g;
