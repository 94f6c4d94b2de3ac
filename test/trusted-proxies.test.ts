import type { IncomingMessage } from "node:http";
import test from "ava";
import { ConfigError, readConfig } from "../gateway/config/config.ts";
import { clientAddressOf } from "../gateway/http/trusted-proxies.ts";
import { Browser } from "./helpers/browser.ts";
import { administrator, startTestGateway } from "./helpers/test-gateway.ts";

function addressOf(trusted: string, from: string, forwardedFor?: string): string {
  const { trustedProxies } = readConfig({ TRUSTED_PROXIES: trusted });
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  return clientAddressOf({ headers, socket: { remoteAddress: from } } as IncomingMessage, trustedProxies);
}

test("without configured proxies no forwarded address is trusted", (t) => {
  t.is(addressOf("", "10.0.0.1", "203.0.113.7"), "10.0.0.1");
  t.is(addressOf("0", "10.0.0.1", "203.0.113.7"), "10.0.0.1");
});

test("a proxy count takes that many steps back and ignores the client's own entries", (t) => {
  t.is(addressOf("1", "10.0.0.1", "203.0.113.7"), "203.0.113.7");
  t.is(addressOf("1", "10.0.0.1", "1.1.1.1, 203.0.113.7"), "203.0.113.7");
  t.is(addressOf("2", "10.0.0.1", "1.1.1.1, 203.0.113.7, 10.0.0.2"), "203.0.113.7");
  t.is(addressOf("2", "10.0.0.1", "203.0.113.7"), "203.0.113.7", "fewer than were said");
  t.is(addressOf("1", "10.0.0.1"), "10.0.0.1");
});

test("listed proxies are trusted only up to the last of them", (t) => {
  const trusted = "10.0.0.0/8, fd00::/8,192.0.2.1";
  t.is(addressOf(trusted, "10.1.2.3", "203.0.113.7"), "203.0.113.7");
  t.is(addressOf(trusted, "::ffff:10.1.2.3", "203.0.113.7"), "203.0.113.7");
  t.is(addressOf(trusted, "fd00::1", "2001:db8::7"), "2001:db8::7");
  t.is(addressOf(trusted, "192.0.2.1", "1.1.1.1, 203.0.113.7, 10.9.9.9"), "203.0.113.7");
  t.is(addressOf(trusted, "192.0.2.2", "203.0.113.7"), "192.0.2.2", "no proxy of ours");
  t.is(addressOf(trusted, "203.0.113.9", "10.0.0.1"), "203.0.113.9", "nor by saying so");
});

test("invalid addresses are skipped, and ports and brackets are removed", (t) => {
  for (const wrong of ["", "unknown", "<script>", "203.0.113.7 or 1=1", "999.1.1.1", ",,,"]) {
    t.is(addressOf("1", "10.0.0.1", wrong), "10.0.0.1", wrong);
  }
  t.is(addressOf("1", "10.0.0.1", "203.0.113.7:4711"), "203.0.113.7");
  t.is(addressOf("1", "10.0.0.1", "[2001:db8::7]:4711"), "2001:db8::7");
});

test("an invalid list stops the start", (t) => {
  for (const TRUSTED_PROXIES of [
    "-1",
    "100",
    "yes",
    "10.0.0.0/33",
    "10.0.0.0/8/8",
    "10.0.0.1,,",
    "fd00::/129",
    "host",
  ]) {
    t.throws(() => readConfig({ TRUSTED_PROXIES }), { instanceOf: ConfigError }, TRUSTED_PROXIES);
  }
});

test("the audit log and the sign-in limit use the client's address", async (t) => {
  const gateway = await startTestGateway(t, { environment: { TRUSTED_PROXIES: "127.0.0.1" } });
  const signIn = (account: string, forwardedFor: string, from?: string) =>
    new Browser(gateway).call("auth.signIn", {
      input: { email: account, password: administrator.password },
      headers: { "x-forwarded-for": forwardedFor },
      ...(from !== undefined && { from }),
    });
  t.is((await signIn(administrator.email, "1.1.1.1, 203.0.113.7")).status, 200);
  const { items } = await gateway.admin.audit.list.query({});
  t.is(items[0]?.address, "203.0.113.7");

  const guess = (index: number) => signIn(`nobody${index}@example.com`, "203.0.113.8");
  const codes = await Promise.all(Array.from({ length: 51 }, async (_, index) => (await guess(index)).code));
  t.is(codes.filter((code) => code === "TOO_MANY_REQUESTS").length, 1);
  t.is((await signIn(administrator.email, "203.0.113.9")).status, 200, "others are not concerned");
  // A client that is not a proxy is counted by its own address.
  t.is((await signIn(administrator.email, "203.0.113.8", "127.0.5.1")).status, 200);
});
