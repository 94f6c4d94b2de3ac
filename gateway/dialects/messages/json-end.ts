/** Tells when a JSON object that comes in pieces has come to its end. Text that is none has no end. */
export class JsonEnd {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  push(piece: string): void {
    for (let at = 0; at < piece.length && !this.#isOver; at++) this.#take(piece.charCodeAt(at));
  }

  #take(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = this.#isInString;
    else if (code === quote) this.#isInString = !this.#isInString;
    else if (this.#isInString) return;
    else if (code === openBrace || code === openBracket) this.#depth++;
    else if (code === closeBrace || code === closeBracket) this.#isOver = --this.#depth <= 0;
  }
}

const backslash = 0x5c;
const quote = 0x22;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
