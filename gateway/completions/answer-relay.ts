import { GatewayError } from "../errors.ts";
import type { UpstreamEvents, UpstreamHeaders } from "../upstream/upstream-call.ts";
import { applyEdits } from "../wire/apply-edits.ts";
import { readTokenUsage, type TokenUsage } from "../wire/chat-completion.ts";
import { isKey, scanMembers } from "../wire/json-layout.ts";
import { ErrorCollector } from "./error-collector.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Brings a whole answer (no stream) to the client: the upstream's own bytes, with the slug in `model`. It is kept until it
 * is complete, because only then is it known that it is an answer.
 */
export class AnswerRelay implements UpstreamEvents {
  readonly #exchange: Exchange;
  readonly #slug: string;
  readonly #bytesMax: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #answeredAt = 0;
  #error: ErrorCollector | null = null;

  constructor(exchange: Exchange, slug: string, bytesMax: number) {
    this.#exchange = exchange;
    this.#slug = slug;
    this.#bytesMax = bytesMax;
  }

  onHeaders(status: number, headers: UpstreamHeaders): void {
    if (status !== 200) this.#error = new ErrorCollector(this.#exchange, status, headers);
    else if (headers["content-encoding"] !== undefined && headers["content-encoding"] !== "identity") {
      this.#exchange.fail(garbage("compressed, though it was asked not to"));
    }
  }

  onData(bytes: Buffer): void {
    if (this.#error) return this.#error.add(bytes);
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > this.#bytesMax) this.#exchange.fail(garbage(`longer than ${this.#bytesMax} bytes`));
  }

  onEnd(): void {
    if (this.#error) return this.#error.finish();
    this.#answeredAt = performance.now();
    const bytes =
      this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const completion = findMembers(bytes);
    if (completion === null) return this.#exchange.fail(garbage("not a chat completion"));
    this.#exchange.usage = readUsage(bytes, completion.usage);
    this.#exchange.noteFirstToken();
    const answer = withModel(bytes, completion.models, this.#slug);
    this.#exchange.succeed(() =>
      this.#exchange.reply.sendJson(answer, this.#exchange.overheadHeader(this.#answeredAt)),
    );
  }

  onError(error: GatewayError): void {
    this.#exchange.fail(error);
  }
}

type Range = { start: number; end: number };

/**
 * Where the members stand that are read here; null for bytes that are no chat completion. The rest is walked over, not
 * parsed: that it is all there is known from HTTP, and from the brackets that close.
 */
function findMembers(bytes: Buffer): { models: Range[]; usage: Range | null } | null {
  const models: Range[] = [];
  let usage: Range | null = null;
  let hasChoices = false;
  const result = scanMembers(bytes, 0, bytes.length, Infinity, (keyStart, keyEnd, start, end) => {
    if (isKey(bytes, keyStart, keyEnd, "model")) models.push({ start, end });
    else if (isKey(bytes, keyStart, keyEnd, "usage")) usage = { start, end };
    else if (isKey(bytes, keyStart, keyEnd, "choices")) hasChoices = bytes[start] === openBracket;
  });
  return result === "complete" && hasChoices ? { models, usage } : null;
}

function readUsage(bytes: Buffer, range: Range | null): TokenUsage | null {
  if (range === null) return null;
  try {
    return readTokenUsage(JSON.parse(bytes.toString("utf8", range.start, range.end)));
  } catch {
    return null;
  }
}

/** The same bytes with the slug as the value of the top-level `model`, which is added where there is none. */
function withModel(bytes: Buffer, models: Range[], slug: string): Buffer {
  const text = JSON.stringify(slug);
  if (models.length > 0)
    return applyEdits(
      bytes,
      models.map((range) => ({ ...range, text })),
    );
  const first = bytes.indexOf("{") + 1;
  return applyEdits(bytes, [{ start: first, end: first, text: `"model":${text},` }]);
}

const openBracket = 0x5b;

function garbage(what: string): GatewayError {
  return new GatewayError("upstream_error", `The answer of the model's provider was ${what}.`);
}
