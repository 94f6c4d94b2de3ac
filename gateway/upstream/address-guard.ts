import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** Rejects private upstream addresses whose `host:port` is not in `privateHosts`. Checks names after DNS. */
export class AddressGuard {
  readonly #privateHosts: ReadonlySet<string>;

  /** @param privateHosts `host:port` entries, or `*` for any host */
  constructor(privateHosts: string[]) {
    this.#privateHosts = new Set(privateHosts.map(withoutBrackets));
  }

  get privateHosts(): string[] {
    return [...this.#privateHosts];
  }

  allowsPrivate(hostname: string, port: string): boolean {
    return this.#privateHosts.has("*") || this.#privateHosts.has(withoutBrackets(`${hostname}:${port}`));
  }

  /** Whether the host is a private IP address. Ignores `privateHosts`. */
  refusesLiteral(hostname: string): boolean {
    const address = withoutBrackets(hostname);
    return isIP(address) !== 0 && !isPublic(address);
  }

  /** Whether the URL is rejected without a DNS lookup. */
  refusesAtSight(url: URL): boolean {
    if (this.allowsPrivate(url.hostname, portOf(url))) return false;
    // RFC 6761, section 6.3: names under `localhost` resolve to loopback addresses.
    return this.refusesLiteral(url.hostname) || /(?:^|\.)localhost\.?$/.test(url.hostname);
  }

  /** Whether any current address of the host is private. False if the lookup fails. */
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

/** `port` is empty for the default port of the protocol. */
export function portOf({ protocol, port }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

export function privateAddressError(): NodeJS.ErrnoException {
  return Object.assign(new Error("The address is private."), { code: "EPRIVATEADDRESS" });
}

export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !reserved.check(address, "ipv4");
  return family === 6 && !reserved.check(address, "ipv6") && globalUnicast.check(address, "ipv6");
}

/** Addresses outside the public internet, mainly from RFC 6890. */
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
  // IPv6 ranges within 2000::/3 for protocols, tunnels, benchmarks and documentation.
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
]);

/** IANA assigns public IPv6 addresses only from this range. */
const globalUnicast = blockList([["2000::", 3]]);

function blockList(subnets: [network: string, prefix: number][]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets)
    list.addSubnet(network, prefix, network.includes(":") ? "ipv6" : "ipv4");
  return list;
}
