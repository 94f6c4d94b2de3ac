import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import * as z from "zod";

/** The proxies that may set `X-Forwarded-For`: by address, or the last N before the gateway. 0 trusts none. */
export type TrustedProxies = BlockList | number;

/** Parses `TRUSTED_PROXIES`: a number of proxies, or comma-separated addresses and networks. */
export const trustedProxiesSetting = z
  .string()
  .transform((text) => (/^\d{1,2}$/.test(text) ? Number(text) : readNetworks(text)))
  .refine(
    (proxies) => proxies !== null,
    "is neither a number of proxies nor a list of address ranges. Use a number such as 1, or ranges such as 10.0.0.0/8,fd00::/8.",
  )
  .transform((proxies) => proxies ?? 0);

/** Reads `X-Forwarded-For` from its end, because a client can write the earlier entries itself. */
export function clientAddressOf(request: IncomingMessage, trusted: TrustedProxies): string {
  const header = request.headers["x-forwarded-for"];
  const hops = String(header ?? "").split(",");
  let address = plain(request.socket.remoteAddress ?? "");
  for (let proxies = 0; isTrusted(trusted, address, proxies); proxies++) {
    const before = withoutPort(hops.pop()?.trim() ?? "");
    if (isIP(before) === 0) break;
    address = plain(before);
  }
  return address;
}

function isTrusted(trusted: TrustedProxies, address: string, proxies: number): boolean {
  if (typeof trusted === "number") return proxies < trusted;
  return isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** A dual-stack socket reports IPv4 addresses as IPv6, such as `::ffff:192.0.2.1`. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** Some proxies add the port, and brackets around IPv6 addresses. */
function withoutPort(text: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
}

function readNetworks(text: string): BlockList | null {
  const networks = new BlockList();
  for (const entry of text.split(",").map((part) => part.trim())) {
    const [address = "", prefix, ...more] = entry.split("/");
    const version = isIP(address);
    const bits = version === 6 ? 128 : 32;
    const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
    if (version === 0 || !isPrefix || more.length > 0) return null;
    networks.addSubnet(address, Number(prefix ?? bits), version === 6 ? "ipv6" : "ipv4");
  }
  return networks;
}
