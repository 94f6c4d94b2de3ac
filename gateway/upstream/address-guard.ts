import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * Keeps the gateway from being sent to addresses that only it can reach. Everything but the public internet is refused
 * unless its `host:port` is listed. What is checked is the very address that is dialled: literals here, names after they
 * have been looked up.
 */
export class AddressGuard {
  readonly #privateHosts: ReadonlySet<string>;

  /** @param privateHosts `host:port` each, or `*` for any. */
  constructor(privateHosts: string[]) {
    this.#privateHosts = new Set(privateHosts.map(withoutBrackets));
  }

  /** The places that may be private, as they were configured. */
  get privateHosts(): string[] {
    return [...this.#privateHosts];
  }

  /** Whether this place may be private. */
  allowsPrivate(hostname: string, port: string): boolean {
    return this.#privateHosts.has("*") || this.#privateHosts.has(withoutBrackets(`${hostname}:${port}`));
  }

  /** Whether the host is an address that must not be dialled. A name is judged when it is looked up. */
  refusesLiteral(hostname: string): boolean {
    const address = withoutBrackets(hostname);
    return isIP(address) !== 0 && !isPublic(address);
  }

  /** Whether it is known without a look-up that the place is not called: it is a literal, or the machine itself. */
  refusesAtSight(url: URL): boolean {
    if (this.allowsPrivate(url.hostname, portOf(url))) return false;
    // RFC 6761, section 6.3: these names are the machine's own everywhere.
    return this.refusesLiteral(url.hostname) || /(?:^|\.)localhost\.?$/.test(url.hostname);
  }

  /** Whether the name stands for a private address now. One that cannot be looked up is judged when it is dialled. */
  resolvesToPrivate(hostname: string): Promise<boolean> {
    return new Promise((resolve) => {
      lookup(hostname, { all: true }, (error, addresses) => {
        resolve(!error && !addresses.every(({ address }) => isPublic(address)));
      });
    });
  }

  /** For `net.connect`: like `dns.lookup`, but an answer with any private address in it is an error. */
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

/** IPv6 addresses come with brackets from URLs and without from Node. */
function withoutBrackets(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]/, "$1");
}

/** As in `api.openai.com:443`: what stands in `UPSTREAM_PRIVATE_HOSTS`. */
export function hostAndPortOf(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

/** A URL leaves its scheme's own port out. */
export function portOf({ protocol, port }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

export function privateAddressError(): NodeJS.ErrnoException {
  return Object.assign(new Error("The address is private."), { code: "EPRIVATEADDRESS" });
}

/** Whether an IP address is on the public internet. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !reserved.check(address, "ipv4");
  if (family !== 6) return false;
  // An IPv4 address in IPv6 clothes is judged as what it is: BlockList knows mapped ones (::ffff:0:0/96).
  if (reserved.check(address, "ipv6")) return false;
  return globalUnicast.check(address, "ipv6");
}

/** RFC 6890 and its successors: what is not for the public internet. */
const reserved = blockList([
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Azure's own services for a machine; the one public address that is private.
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
  // IPv6 within 2000::/3 that embeds other addresses or is for documentation and benchmarks.
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
]);

/** All of IPv6 that is handed out so far; loopback, link-local, unique local, mapped and the rest are outside. */
const globalUnicast = blockList([["2000::", 3]]);

function blockList(subnets: [network: string, prefix: number][]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets)
    list.addSubnet(network, prefix, network.includes(":") ? "ipv6" : "ipv4");
  return list;
}
