import { connect, isIP, type OnReadOpts, Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectSecure } from "node:tls";
import { type AddressGuard, portOf, privateAddressError } from "./address-guard.ts";
import { withCode } from "./upstream-failure.ts";

type DiallerOptions = {
  /** Scheme, host and port. */
  origin: string;
  guard: AddressGuard;
  /** For the look-up of the name, the connection and TLS together. */
  connectTimeoutMs: number;
};

/** Opens connections to one origin. */
export class Dialler {
  readonly #target: TcpNetConnectOpts;
  readonly #isSecure: boolean;
  readonly #isRefused: boolean;
  readonly #connectTimeoutMs: number;
  /** What all connections are read into: what comes is handled before anything else is read. */
  readonly #readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
  /** Saves the next connection a part of TLS's handshake. */
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
    // `lookup` is not called for literals.
    this.#isRefused = !mayBePrivate && guard.refusesLiteral(hostname);
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /**
   * @param onOpen requests may be written from now on
   * @param onBytes their memory is used again afterwards; returns whether more may come now
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
        // What pretends to be a socket, as nock does, knows nothing of `onread`.
        .on("data", onBytes)
        .setNoDelay(true)
        .setKeepAlive(true, 60_000)
        .once(this.#isSecure ? "secureConnect" : "connect", () => {
          clearTimeout(timer);
          // What keeps the process alive is a call, not the connection that may have one.
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
      // Told like every other failure: a bad setting of TLS must not stop the process.
      return new Socket().destroy(error as Error);
    }
  }

  #connectSecure(onread: OnReadOpts): Socket {
    const { host = "" } = this.#target;
    const options = {
      ...this.#target,
      onread,
      // Only names are sent.
      servername: isIP(host) === 0 ? host : "",
      ALPNProtocols: ["http/1.1"],
      session: this.#session,
    };
    return connectSecure(options).on("session", (session) => (this.#session = session));
  }
}

function connectTimeout(): Error {
  return withCode("ETIMEDOUT", "The connection was not open in time.");
}
