import { connect, isIP, type OnReadOpts, Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectSecure } from "node:tls";
import { type AddressGuard, portOf, privateAddressError } from "./address-guard.ts";
import { withCode } from "./upstream-failure.ts";

type DiallerOptions = {
  /** For example `https://api.openai.com:443`. */
  origin: string;
  guard: AddressGuard;
  /** Covers DNS, TCP and TLS together. */
  connectTimeoutMs: number;
};

/** Opens connections to one origin. */
export class Dialler {
  readonly #target: TcpNetConnectOpts;
  readonly #isSecure: boolean;
  readonly #isRefused: boolean;
  readonly #connectTimeoutMs: number;
  /** Shared by all connections: each read is processed before the next one. */
  readonly #readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
  /** Shortens the TLS handshake of the next connection. */
  #session: Buffer | undefined;

  constructor({ origin, guard, connectTimeoutMs }: DiallerOptions) {
    const url = new URL(origin);
    const { protocol, hostname } = url;
    const port = portOf(url);
    const mayBePrivate = guard.allowsPrivate(hostname, port);
    // IPv6 addresses have brackets in URLs only.
    this.#target = { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
    if (!mayBePrivate) this.#target.lookup = guard.lookupPublic;
    this.#isSecure = protocol === "https:";
    // Node calls `lookup` for names only.
    this.#isRefused = !mayBePrivate && guard.refusesLiteral(hostname);
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /**
   * @param onOpen requests may be written
   * @param onBytes the buffer is reused afterwards; returns whether to continue reading
   */
  dial(onOpen: () => void, onBytes: (bytes: Buffer) => boolean): Socket {
    const onread = {
      buffer: this.#readBuffer,
      callback: (length: number) => onBytes(this.#readBuffer.subarray(0, length)),
    };
    const socket = this.#connect(onread);
    const timer = setTimeout(() => socket.destroy(connectTimeout()), this.#connectTimeoutMs);
    return (
      socket
        // Mock sockets, such as nock's, ignore `onread`.
        .on("data", onBytes)
        .setNoDelay(true)
        .setKeepAlive(true, 60_000)
        .once(this.#isSecure ? "secureConnect" : "connect", () => {
          clearTimeout(timer);
          // Calls keep the process alive, idle connections do not.
          socket.unref();
          onOpen();
        })
        .once("close", () => clearTimeout(timer))
    );
  }

  #connect(onread: OnReadOpts): Socket {
    if (this.#isRefused) return new Socket().destroy(privateAddressError());
    try {
      return this.#isSecure ? this.#connectSecure(onread) : connect({ ...this.#target, onread });
    } catch (error) {
      // Reported like any other failure: an invalid TLS setting must not stop the process.
      return new Socket().destroy(error as Error);
    }
  }

  #connectSecure(onread: OnReadOpts): Socket {
    const { host = "" } = this.#target;
    const options = {
      ...this.#target,
      onread,
      // SNI allows names only.
      servername: isIP(host) === 0 ? host : "",
      ALPNProtocols: ["http/1.1"],
      session: this.#session,
    };
    return connectSecure(options).on("session", (session) => (this.#session = session));
  }
}

function connectTimeout(): Error {
  return withCode("ETIMEDOUT", "The connection timed out.");
}
