import { connect, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext, TLSSocket } from "node:tls";
import type { ExecutionContext } from "ava";
import { listen } from "./listen.ts";
import type { Certificate } from "./make-certificate.ts";

/**
 * Starts a proxy with the sign-in of Amazon RDS: TLS, and a token in clear text as the password. After the sign-in,
 * the proxy forwards to the passwordless server on `port`.
 */
export async function startTokenDatabase(
  t: Pick<ExecutionContext, "teardown">,
  { port, certificate, accepts }: TokenDatabaseOptions,
): Promise<{ port: number; cutAll(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    guard(client, upstream, certificate, accepts).catch(() => client.destroy());
  });
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(cutAll);
  return { port: await listen(t, server), cutAll };
}

type TokenDatabaseOptions = { port: number; certificate: Certificate; accepts(token: string): boolean };

/**
 * Performs the handshake
 * (https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html).
 */
async function guard(
  client: Socket,
  upstream: Socket,
  { key, certificate: cert }: Certificate,
  accepts: (token: string) => boolean,
): Promise<void> {
  const fromUpstream = new PacketReader(upstream);
  const greeting = await fromUpstream.next();
  const capabilities = greeting.indexOf(0, 1) + 14;
  greeting.writeUInt16LE(greeting.readUInt16LE(capabilities) | tlsCapability, capabilities);
  client.write(toPacket(0, greeting));

  const plain = new PacketReader(client);
  await plain.next();
  plain.release();
  const secured = new TLSSocket(client, {
    isServer: true,
    secureContext: createSecureContext({ key, cert }),
  });
  secured.on("error", () => client.destroy());
  const fromClient = new PacketReader(secured);
  const login = await fromClient.next();
  login.writeUInt32LE((login.readUInt32LE(0) & ~tlsCapability) >>> 0, 0);
  upstream.write(toPacket(1, login));
  const verdict = await fromUpstream.next();

  secured.write(toPacket(3, Buffer.from("\xfemysql_clear_password\0", "latin1")));
  const token = (await fromClient.next()).toString().replace(/\0$/, "");
  if (!accepts(token)) {
    const refusal = Buffer.from("\xff\x15\x04#28000Access denied", "latin1");
    return void secured.end(toPacket(5, refusal));
  }
  secured.write(toPacket(5, verdict));
  fromClient.release();
  fromUpstream.release();
  secured.pipe(upstream).pipe(secured);
}

const tlsCapability = 0x0800;

/** Reads MySQL packets: three bytes of length, one of sequence, the payload. */
class PacketReader {
  readonly #stream: Duplex;
  #bytes = Buffer.alloc(0);
  #waiting: PromiseWithResolvers<void> = Promise.withResolvers();
  #hasEnded = false;

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on("data", this.#read);
    stream.on("close", this.#end);
  }

  async next(): Promise<Buffer> {
    while (this.#bytes.length < 4 || this.#bytes.length < 4 + this.#bytes.readUIntLE(0, 3)) {
      if (this.#hasEnded) throw new Error("The connection ended.");
      await this.#waiting.promise;
    }
    const end = 4 + this.#bytes.readUIntLE(0, 3);
    const payload = this.#bytes.subarray(4, end);
    this.#bytes = this.#bytes.subarray(end);
    return payload;
  }

  /** Stops reading and returns unread bytes to the stream. */
  release(): void {
    this.#stream.off("data", this.#read);
    this.#stream.off("close", this.#end);
    this.#stream.pause();
    if (this.#bytes.length > 0) this.#stream.unshift(this.#bytes);
  }

  readonly #read = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#waiting.resolve();
  };
}

function toPacket(sequence: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUIntLE(payload.length, 0, 3);
  header.writeUInt8(sequence, 3);
  return Buffer.concat([header, payload]);
}
