import dns from "node:dns";
import { once } from "node:events";
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, createServer as createNetServer, isIP } from "node:net";
import test from "ava";
import { AddressGuard, isPublic } from "../../gateway/upstream/address-guard.ts";
import { callUpstream, createUpstreams } from "../helpers/call-upstream.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { listen } from "../helpers/listen.ts";
import { modelRow, providerRow } from "../helpers/open-test-database.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, type ScriptedUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const publicAddresses =
  "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 " +
  "169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 " +
  "198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 104.18.6.192 " +
  "2000:: 2001:200::1 2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450:4001::1 2620:fe::fe 3ffe:ffff::1";

const otherAddresses = {
  "this network": "0.0.0.0 0.0.0.1 0.255.255.255",
  private: "10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.0 192.168.255.255",
  loopback: "127.0.0.1 127.0.0.2 127.255.255.255 ::1 0:0:0:0:0:0:0:1",
  unspecified: ":: 0::0",
  "carrier NAT, and Alibaba's metadata": "100.64.0.0 100.100.100.200 100.127.255.255",
  "link-local, and cloud metadata":
    "169.254.0.0 169.254.169.254 169.254.255.255 fe80::1 febf:ffff::1 fe80::1%lo",
  "protocol assignments": "192.0.0.1 192.0.0.170 192.88.99.1 198.18.0.0 198.19.255.255",
  documentation: "192.0.2.1 198.51.100.1 203.0.113.255 2001:db8::1 3fff::1 3fff:fff:ffff::1",
  "multicast, reserved, broadcast": "224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 ff02::1 ff0e::1",
  "mapped IPv4":
    "::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 0:0:0:0:0:ffff:192.168.0.1",
  "compatible and translated IPv4": "::127.0.0.1 ::7f00:1 ::ffff:0:127.0.0.1",
  "6to4 and Teredo": "2002:7f00:1:: 2002:a9fe:a9fe:: 2002:808:808::1 2001:0:7f00:1::1",
  NAT64: "64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::1",
  "unique local, and AWS's metadata": "fc00::1 fd00:ec2::254 fdff:ffff::1",
  "discard-only, site-local, benchmarking, ORCHID": "100::1 fec0::1 2001:2::1 2001:20::1",
  "not handed out": "4000::1 5f00::1 8000::1 e000::1",
  "no address at all": "localhost example.com 127.1 2130706433 0x7f000001 [::1] 1.2.3 1.2.3.4.5 :::",
};

test("public addresses are accepted up to the edges of reserved ranges", (t) => {
  for (const address of publicAddresses.split(" ")) t.true(isPublic(address), address);
});

for (const [what, addresses] of Object.entries(otherAddresses)) {
  test(`a reserved address is not public: ${what}`, (t) => {
    for (const address of addresses.split(" ")) t.false(isPublic(address), address);
  });
}

const shared = sharedByFile();
/** Any connection to this server is a failure. */
const canary = createNetServer((socket) => {
  connections++;
  socket.destroy();
});
let connections = 0;
let port: number;
let allowed: ScriptedUpstream;
let gateway: TestGateway;

test.before(async () => {
  canary.listen(0);
  await once(canary, "listening");
  ({ port } = canary.address() as AddressInfo);
  allowed = await createUpstream(shared, (_request, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${port}/v1/chat/completions` });
    response.end();
  });
  const environment = { UPSTREAM_PRIVATE_HOSTS: new URL(allowed.url).host };
  gateway = await startTestGateway(shared, { environment });
});

test.after.always((t) => {
  canary.close();
  t.is(connections, 0);
});

const spellings = [
  "127.0.0.1",
  "127.0.0.1.",
  "127.1",
  "127.0.1",
  "2130706433",
  "0x7f000001",
  "0x7F.0.0.1",
  "017700000001",
  "0177.0.0.1",
  "127.000.000.001",
  "127.0.0.2",
  "１２７.０.０.１",
  "%31%32%37.0.0.1",
  "0.0.0.0",
  "0",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[2002:7f00:1::]",
  "localhost",
  "LOCALHOST",
];

for (const host of [
  ...spellings,
  "10.0.0.1",
  "169.254.169.254",
  "192.168.1.1",
  "[fd00:ec2::254]",
  "[fe80::1]",
]) {
  test(`a provider at ${host} is rejected on input`, async (t) => {
    for (const scheme of ["http", "https"]) {
      const baseUrl = `${scheme}://${host}:${port}/v1`;
      const error = await t.throwsAsync(
        gateway.admin.providers.create.mutate({ name: "refused", kind: "openai-compatible", baseUrl }),
      );
      t.regex(error?.message ?? "", /^The base URL (is a private address|uses http,)/, baseUrl);
    }
  });
}

const resolved: Record<string, string[]> = {
  "public.example.com": ["1.1.1.1", "2606:4700:4700::1111"],
  "private-first.example.com": ["127.0.0.1", "1.1.1.1"],
  "private-last.example.com": ["1.1.1.1", "127.0.0.1"],
  "private-six.example.com": ["1.1.1.1", "::1", "8.8.8.8"],
};
const lookupOfSystem = dns.lookup;
Object.assign(dns, {
  lookup(name: string, options: dns.LookupAllOptions, callback: LookupCallback) {
    const addresses = resolved[name];
    if (addresses === undefined) return lookupOfSystem(name, options, callback);
    setImmediate(callback, null, addresses.map(toLookupAddress));
  },
});
syncBuiltinESMExports();

type LookupCallback = (error: NodeJS.ErrnoException | null, found: dns.LookupAddress[]) => void;

function toLookupAddress(address: string): dns.LookupAddress {
  return { address, family: isIP(address) };
}

for (const [name, addresses] of Object.entries(resolved)) {
  const isPrivate = name.startsWith("private-");

  test(`of ${name}, ${isPrivate ? "no address is used" : "every address may be used"}`, async (t) => {
    const guard = new AddressGuard([]);
    t.is(await guard.resolvesToPrivate(name), isPrivate);
    for (const all of [true, false]) {
      const found = await new Promise((resolve) => {
        guard.lookupPublic(name, { all }, (error, address) => resolve(error?.code ?? address));
      });
      const expected = all ? addresses.map(toLookupAddress) : addresses[0];
      t.deepEqual(found, isPrivate ? "EPRIVATEADDRESS" : expected);
    }
  });
}

test("a name with a private address among public ones is rejected, and not called", async (t) => {
  const baseUrl = "https://private-last.example.com/v1";
  const provider = { name: "refused", kind: "openai-compatible", baseUrl } as const;
  const error = await t.throwsAsync(gateway.admin.providers.create.mutate(provider));
  t.regex(error?.message ?? "", /^The base URL is a private address/);
  const upstreams = createUpstreams(t, { guard: new AddressGuard([]) });
  const { outcome } = callUpstream(upstreams, `http://private-first.example.com:${port}/v1`);
  t.like(await outcome, { cause: "EPRIVATEADDRESS", wasSent: false });
});

test("base URLs with a password, another scheme or public plain http are rejected", async (t) => {
  for (const [baseUrl, reason] of [
    [`http://api.openai.com@127.0.0.1:${port}/v1`, /user name/],
    ["https://user:secret@8.8.8.8/v1", /user name/],
    ["http://8.8.8.8/v1", /uses http, which would send the credential unencrypted/],
    ["https://8.8.8.8/v1#fragment", /fragment/],
    ["file:///etc/passwd", /not an http or https URL/],
    ["gopher://127.0.0.1/", /not an http or https URL/],
    ["//127.0.0.1/v1", /not an http or https URL/],
    ["https://", /not an http or https URL/],
    ["https://[::1%25lo]/v1", /not an http or https URL/],
  ] as const) {
    const provider = { name: "refused", kind: "openai-compatible", baseUrl } as const;
    const error = await t.throwsAsync(gateway.admin.providers.create.mutate(provider));
    t.regex(error?.message ?? "", reason, baseUrl);
    t.false(error?.message.includes("secret"));
  }
});

test.serial("a private provider already in the database is refused on connect", async (t) => {
  const schemes = [...spellings, "localhost."].flatMap((host) => [
    `http://${host}:${port}/v1`,
    `https://${host}:${port}/v1`,
  ]);
  await insertProviders(gateway, Object.fromEntries(schemes.map((url, index) => [`row${index}`, url])));
  const slugs = schemes.map((_, index) => `row${index}/model`);
  const key = await createKey(gateway, slugs);

  const answers = await Promise.all(slugs.map((slug) => postChat(gateway, key.value, chatBody(slug))));

  for (const [index, { status, text }] of answers.entries()) {
    t.is(status, 502, schemes[index]);
    t.like(JSON.parse(text).error, { type: "server_error", code: "upstream_error" });
  }
  const records = await usageOf(gateway, key.id);
  t.is(records.length, slugs.length);
  t.true(records.every(({ status, errorCode }) => status === "FAILED" && errorCode === "upstream_error"));
});

test.serial("exactly the listed host and port is allowed, and its redirects are not followed", async (t) => {
  const key = await connectUpstream(gateway, allowed);

  const { status, text } = await postChat(gateway, key.value, chatBody("test/model"));

  t.is(status, 502);
  t.is(JSON.parse(text).error.code, "upstream_error");
  t.is(allowed.requests.length, 1);
});

for (const [host, address] of [
  ["127.0.0.1", "127.0.0.1"],
  ["localhost", "127.0.0.1"],
  ["[::1]", "::1"],
] as const) {
  test(`UPSTREAM_PRIVATE_HOSTS allows an upstream at ${host}, however the host is listed`, async (t) => {
    const server = createServer((_request, response) => sendCompletion(response));
    const listed = `${host}:${await listen(t, server, address)}`;
    const open = await startTestGateway(t, { environment: { UPSTREAM_PRIVATE_HOSTS: listed.toUpperCase() } });
    const key = await connectUpstream(open, { url: `http://${listed}` });

    const { status, text } = await postChat(open, key.value, chatBody("test/model"));

    t.is(status, 200, text);
  });
}

test("the startup log lists private providers once, with the setting to allow them", async (t) => {
  const first = await startTestGateway(t);
  await insertProviders(first, {
    literal: "http://10.1.2.3:8000/v1",
    local: "http://localhost:11434/v1",
    named: "https://six.localhost/v1",
    six: "http://[::1]:9000/v1",
    listed: "http://127.0.0.1:7000/v1",
    // The address of this host is known only after a lookup.
    outside: "https://api.example.com/v1",
  });
  const DATABASE_URL = first.environment["DATABASE_URL"] ?? "";
  const environment = { DATABASE_URL, UPSTREAM_PRIVATE_HOSTS: "127.0.0.1:7000" };
  const gateway = await startTestGateway(t, { environment });

  t.deepEqual(warningsOf(gateway), [
    ["literal", "10.1.2.3:8000"],
    ["local", "localhost:11434"],
    ["named", "six.localhost:443"],
    ["six", "[::1]:9000"],
  ]);
  t.deepEqual(warningsOf(first), [], "everything is allowed there");
  const key = await createKey(gateway, ["literal/model"]);
  for (let request = 0; request < 3; request++)
    t.is((await postChat(gateway, key.value, chatBody("literal/model"))).status, 502);
  t.is(warningsOf(gateway).length, 4, "it has been said");
});

test("a refused resolved address is logged once", async (t) => {
  const environment = { UPSTREAM_PRIVATE_HOSTS: "127.0.0.1:7000" };
  const gateway = await startTestGateway(t, { environment });
  // The provider is inserted while the gateway runs, so the warning follows the provider's first call.
  await insertProviders(gateway, { late: "http://localhost:11434/v1?key=sk-canary" });
  t.deepEqual(warningsOf(gateway), []);
  const key = await createKey(gateway, ["late/model"]);
  for (let request = 0; request < 3; request++)
    t.is((await postChat(gateway, key.value, chatBody("late/model", "A secret"))).status, 502);
  t.deepEqual(warningsOf(gateway), [["late", "localhost:11434"]]);
  t.false(gateway.log.join("").includes("canary"));
});

/** Inserts the providers into the database, which bypasses the check of base URLs. */
async function insertProviders(gateway: TestGateway, baseUrls: Record<string, string>): Promise<void> {
  const names = Object.keys(baseUrls);
  await gateway.services.database.write(async ({ providers, models, changes }) => {
    for (const [name, baseUrl] of Object.entries(baseUrls)) {
      await providers.insert(providerRow(`prv_${name}`, { name, kind: "openai-compatible", baseUrl }));
      await models.insert(modelRow(`mdl_${name}`, `prv_${name}`, { slug: `${name}/model` }));
      // A second model must not cause a second warning.
      await models.insert(modelRow(`mdl_${name}_other`, `prv_${name}`, { slug: `${name}/other` }));
    }
    await changes.append("catalogue", `prv_${names[0]}`, new Date());
  });
  await eventually(() => gateway.services.catalogue.find(`${names.at(-1)}/model`));
}

function warningsOf({ log }: TestGateway): [string, string][] {
  const lines = log.map((line) => JSON.parse(line) as Record<string, unknown>);
  const warnings = lines.filter(({ msg }) => String(msg).includes("to UPSTREAM_PRIVATE_HOSTS,"));
  for (const { level, msg, address } of warnings) {
    if (level !== "warn") throw new Error(`It is no warning: ${String(level)}`);
    if (!String(msg).includes(`add ${String(address)} to UPSTREAM_PRIVATE_HOSTS,`))
      throw new Error(String(msg));
  }
  const places = warnings.map(({ provider, address }): [string, string] => [
    String(provider),
    String(address),
  ]);
  return places.toSorted(([left], [right]) => left.localeCompare(right));
}
