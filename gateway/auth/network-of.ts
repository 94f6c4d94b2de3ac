import { isIPv6, SocketAddress } from "node:net";

/**
 * The network whose addresses belong to one client: of IPv6 the /64, from which a client can pick any address; of IPv4 the
 * address itself, in IPv6's form too.
 */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%");
  if (!isIPv6(plain)) return address;
  // In the shortest form, where IPv4 in IPv6 ends with dots.
  const { address: shortest } = new SocketAddress({ address: plain, family: "ipv6" });
  const ipv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(shortest)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [head = "", tail] = shortest.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const last = tail === "" ? [] : tail.split(":");
    // An IPv4 address at the end stands for two groups, which are never among the first four.
    const missing = 8 - groups.length - last.length - (tail.includes(".") ? 1 : 0);
    groups.push(...Array.from({ length: missing }, () => "0"), ...last);
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}
