import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * Keeps the gateway from calling addresses that only it can reach. Addresses outside the public internet are
 * rejected unless their `host:port` is listed. Literals are checked at once, names after DNS.
 */
export class AddressGuard {
  readonly #privateHosts: ReadonlySet<string>;

  /** @param privateHosts entries of the form `host:port`, or `*` for any */
  constructor(privateHosts: string[]) {
    this.#privateHosts = new Set(privateHosts.map(withoutBrackets));
  }

  get privateHosts(): string[] {
    return [...this.#privateHosts];
  }

  allowsPrivate(hostname: string, port: string): boolean {
    return this.#privateHosts.has("*") || this.#privateHosts.has(withoutBrackets(`${hostname}:${port}`));
  }

  /** Whether the host is the literal of a private address, even if it is listed. Names are checked after DNS. */
  refusesLiteral(hostname: string): boolean {
    const address = withoutBrackets(hostname);
    return isIP(address) !== 0 && !isPublic(address);
  }

  /** Whether the host is rejected without DNS: a private literal or localhost that is not listed. */
  refusesAtSight(url: URL): boolean {
    if (this.allowsPrivate(url.hostname, portOf(url))) return false;
    // By RFC 6761, section 6.3, `localhost` names always mean the local machine.
    return this.refusesLiteral(url.hostname) || /(?:^|\.)localhost\.?$/.test(url.hostname);
  }

  /**
   * Whether the name currently resolves to a private address. A failed lookup is reported when the name is
   * dialled.
   */
  resolvesToPrivate(hostname: string): Promise<boolean> {
    return new Promise((resolve) => {
      lookup(hostname, { all: true }, (error, addresses) => {
        resolve(!error && !addresses.every(({ address }) => isPublic(address)));
      });
    });
  }

  /** Looks up a name for `net.connect`, but fails if any address is private. */
  readonly lookupPublic: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "");
      const first = addresses[0];
      if (first === undefined || !addresses.every(({ address }) => isPublic(address))) {
        return callback(privateAddressError(), "");
      }
      if (options.all) return callback(null, addresses as LookupAddress[]);
      return callback(null, first.address, first.family);
    });
  };
}

/** IPv6 addresses have brackets in URLs, but not in Node's functions. */
function withoutBrackets(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]/, "$1");
}

/** Formats a URL's host and port as in `UPSTREAM_PRIVATE_HOSTS`: `api.openai.com:443`. */
export function hostAndPortOf(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

/** URLs omit the default port of their scheme. */
export function portOf({ protocol, port }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

export function privateAddressError(): NodeJS.ErrnoException {
  return Object.assign(new Error("The address is private."), { code: "EPRIVATEADDRESS" });
}

export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !reserved.check(address, "ipv4");
  if (family !== 6) return false;
  // IPv6 addresses that embed an IPv4 address are rejected, because they could lead to a private one.
  if (reserved.check(address, "ipv6")) return false;
  return globalUnicast.check(address, "ipv6");
}

/** RFC 6890 and its successors: addresses outside the public internet. */
const reserved = blockList([
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // A public address that Azure uses for its platform services.
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // IPv6 ranges within 2000::/3 that embed other addresses or are for documentation and benchmarks.
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
]);

/** All allocated public IPv6 addresses. Loopback, link-local, unique local and mapped ones are outside. */
const globalUnicast = blockList([["2000::", 3]]);

function blockList(subnets: [network: string, prefix: number][]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets)
    list.addSubnet(network, prefix, network.includes(":") ? "ipv6" : "ipv4");
  return list;
}
