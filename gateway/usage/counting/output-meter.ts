import { TokenMeter } from "./token-meter.ts";

/**
 * Counts the tokens of output text in JSON that passes, without parsing it: the strings behind certain names. Most events
 * of a stream are alike up to the text, so the name is first looked for where it stood the last time.
 */
export class OutputMeter {
  readonly #meter = new TokenMeter();
  readonly #names: RegExp;
  /** The name of the last event, up to the quote behind it, and how far from the event's start it stood. */
  #name = "";
  #distance = 0;

  /** @param names a global pattern that ends with the opening quote of the text */
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
      // Where one event has several texts, the next one may too.
      this.#name = count++ === 0 ? found[0] : "";
      this.#distance = found.index;
      this.#names.lastIndex = this.#meter.addJson(event, found.index + found[0].length);
    }
  }
}

/** Members with output text in whole answers of every form. */
export const answerNames = () =>
  /"(?:content|reasoning_content|reasoning|refusal|arguments|text|thinking)"\s*:\s*"/g;
