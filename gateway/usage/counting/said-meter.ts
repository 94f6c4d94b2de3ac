import { TokenMeter } from "./token-meter.ts";

/**
 * Counts what a model has said in JSON that passes, without parsing it: the strings that stand behind certain names. In a
 * stream most events are alike up to where the text begins, so that the name is looked for where it stood the last time.
 */
export class SaidMeter {
  readonly #meter = new TokenMeter();
  readonly #names: RegExp;
  /** The name of the last event, up to the quote behind it, and how far from the event's start it stood. */
  #name = "";
  #distance = 0;

  /** @param names a global pattern that ends with the opening quote of what is said */
  constructor(names: RegExp) {
    this.#names = names;
  }

  get tokens(): number {
    return this.#meter.tokens;
  }

  /** @param text bytes of UTF-8, one character a byte, with a JSON object from `start` to `end` */
  read(text: string, start: number, end: number): void {
    if (this.#name !== "" && text.startsWith(this.#name, start + this.#distance)) {
      this.#meter.addJson(text, start + this.#distance + this.#name.length);
      return;
    }
    const event = text.slice(start, end);
    this.#name = "";
    let count = 0;
    this.#names.lastIndex = 0;
    for (let found = this.#names.exec(event); found; found = this.#names.exec(event)) {
      // Where one event says several things, the next one may too.
      this.#name = count++ === 0 ? found[0] : "";
      this.#distance = found.index;
      this.#names.lastIndex = this.#meter.addJson(event, found.index + found[0].length);
    }
  }
}

/** Where chat completions say something, whole or in chunks, also those of imitators that think aloud. */
export const chatNames = () => /"(?:content|reasoning_content|reasoning|refusal|arguments)"\s*:\s*"/g;

/** The same in the events of Anthropic's messages and OpenAI's responses that add to what is there. */
export const deltaNames = () => /"(?:text|thinking|partial_json|delta)"\s*:\s*"/g;

/** The same in whole answers of every form. */
export const answerNames = () =>
  /"(?:content|reasoning_content|reasoning|refusal|arguments|text|thinking)"\s*:\s*"/g;
