import { BlockList, isIP } from "node:net";

/** IPv4 and IPv6 addresses and CIDR ranges. */
export class AddressRanges {
  readonly #list = new BlockList();

  /** @param ranges entries that `isAddressRange` accepts */
  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const { address, kind, bits } = parseRange(range) ?? {};
      if (address !== undefined && bits !== undefined) this.#list.addSubnet(address, bits, kind);
    }
  }

  /** Also matches IPv4-mapped IPv6 addresses, such as `::ffff:192.0.2.1`, which dual-stack sockets report. */
  has(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#list.check(address, version === 6 ? "ipv6" : "ipv4");
  }
}

export function isAddressRange(text: string): boolean {
  return parseRange(text) !== null;
}

function parseRange(text: string): { address: string; kind: "ipv4" | "ipv6"; bits: number } | null {
  const [address = "", length, ...rest] = text.split("/");
  const version = isIP(address);
  const bitsMax = version === 6 ? 128 : 32;
  const bits = length === undefined ? bitsMax : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  // A zone such as %eth0 is valid on one machine only.
  if (version === 0 || address.includes("%") || rest.length > 0 || bits < 0 || bits > bitsMax) return null;
  return { address, kind: version === 6 ? "ipv6" : "ipv4", bits };
}
