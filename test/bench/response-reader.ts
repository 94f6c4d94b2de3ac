/**
 * Reads HTTP/1.1 responses one at a time. To save CPU time, the reader supports only what the benchmark's servers send:
 * bodies with a Content-Length or in chunks.
 */
export class ResponseReader {
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The offset of the body's end, 0 while unknown, or -1 if the body ends with the last chunk. */
  #end = 0;

  /** Returns the response if these bytes complete it, otherwise null. */
  push(bytes: Buffer): Response | null {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    if (this.#end === 0) this.#end = endOfBody(Buffer.concat(this.#parts));
    const isComplete =
      this.#end > 0 ? this.#bytes >= this.#end : this.#end === -1 && this.#endsWithLastChunk();
    if (!isComplete) return null;

    const response = parseResponse(Buffer.concat(this.#parts));
    this.#parts = [];
    this.#bytes = 0;
    this.#end = 0;
    return response;
  }

  #endsWithLastChunk(): boolean {
    const last = this.#parts.at(-1) ?? lastChunk;
    const tail = last.length >= lastChunk.length ? last : Buffer.concat(this.#parts);
    return tail.subarray(-lastChunk.length).equals(lastChunk);
  }
}

export type Response = { status: number; body: Buffer };

function endOfBody(bytes: Buffer): number {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString("latin1", 0, headEnd))?.[1];
  return length === undefined ? -1 : headEnd + 4 + Number(length);
}

function parseResponse(bytes: Buffer): Response {
  const headEnd = bytes.indexOf("\r\n\r\n");
  const head = bytes.toString("latin1", 0, headEnd);
  const body = bytes.subarray(headEnd + 4);
  const isChunked = /\r\ntransfer-encoding: chunked/i.test(head);
  return { status: Number(head.slice(9, 12)), body: isChunked ? joinChunks(body) : body };
}

/** Decodes the chunked transfer coding: https://www.rfc-editor.org/rfc/rfc9112#section-7.1 */
function joinChunks(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (!(length > 0)) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}

const lastChunk = Buffer.from("0\r\n\r\n");
