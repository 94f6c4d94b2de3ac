import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import {
  createServer as createNetServer,
  type LookupFunction,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from "node:net";
import path from "node:path";
import { createServer, type Server, setDefaultCACertificates, type TlsOptions } from "node:tls";
import { promisify } from "node:util";
import test, { type ExecutionContext } from "ava";
import { AddressGuard } from "../../gateway/upstream/address-guard.ts";
import { callUpstream, createUpstreams } from "../helpers/call-upstream.ts";
import { makeCertificate } from "../helpers/make-certificate.ts";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { createRawUpstream } from "../helpers/raw-upstream.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

const hello = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
const authority = makeCertificate({ name: "Test authority" });
// Unlike NODE_EXTRA_CA_CERTS, this function needs no new process.
setDefaultCACertificates([authority.certificate]);
// By default, Node gives each address but the last a quarter of a second.
setDefaultAutoSelectFamilyAttemptTimeout(hangMs);

function identify(hosts: string[], { issuer = authority, days = 1 } = {}) {
  const { certificate, key } = makeCertificate({ name: "server", hosts, issuer, days });
  return { cert: certificate, key };
}

/** Resolves every name to the given addresses, even if they are private. */
class TestGuard extends AddressGuard {
  readonly asked: string[] = [];

  constructor(addresses: string[]) {
    super([]);
    this.lookupPublic = (hostname, options, callback) => {
      this.asked.push(hostname);
      const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      if (options.all) callback(null, found);
      else callback(null, found[0]?.address ?? "", found[0]?.family);
    };
  }

  override readonly lookupPublic: LookupFunction;
}

async function secureUpstream(t: ExecutionContext, names: string[], options: TlsOptions = {}) {
  const server: Server = createServer({ ...identify(names), ...options });
  const resumed: boolean[] = [];
  server.on("secureConnection", (socket) => resumed.push(socket.isSessionReused()));
  const upstream = await createRawUpstream(t, ({ socket }) => socket.write(hello), server);
  return { ...upstream, server, resumed };
}

test("TLS uses the provider's name for the lookup, SNI and the certificate", async (t) => {
  const guard = new TestGuard(["127.0.0.1"]);
  const upstreams = createUpstreams(t, { guard, upstreamConnectionsMax: 1 });
  const { port, connections, server } = await secureUpstream(t, ["api.example.com"], {
    ALPNProtocols: ["h2", "http/1.1"],
  });
  const seen: unknown[] = [];
  server.on("secureConnection", (socket) => seen.push([socket.servername, socket.alpnProtocol]));

  const url = `https://api.example.com:${port}/v1`;
  t.like(await callUpstream(upstreams, url).outcome, { error: null, body: "hello" });
  t.like(await callUpstream(upstreams, url).outcome, { error: null, body: "hello" });

  t.deepEqual(seen, [["api.example.com", "http/1.1"]]);
  t.deepEqual(guard.asked, ["api.example.com"]);
  t.is(connections.length, 1);
  t.true(connections[0]?.requests[0]?.includes(`\r\nhost: api.example.com:${port}\r\n`));
});

test("a provider may be an IP address", async (t) => {
  const upstreams = createUpstreams(t);
  const { url } = await secureUpstream(t, ["127.0.0.1"]);
  t.like(await callUpstream(upstreams, url).outcome, { error: null, body: "hello" });
});

for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
  test(`a second connection resumes the first one's session, ${version}`, async (t) => {
    const upstreams = createUpstreams(t);
    const { url, connections, resumed } = await secureUpstream(t, ["127.0.0.1"], { maxVersion: version });
    await callUpstream(upstreams, url).outcome;
    connections[0]?.socket.end();
    await eventually(() => connections[0]?.isClosed);
    t.like(await callUpstream(upstreams, url).outcome, { error: null });
    t.deepEqual(resumed, [false, true]);
  });
}

const stranger = makeCertificate({ name: "Another authority" });
for (const [what, identity, reason] of [
  ["for another name", identify(["evil.example.com"]), "ERR_TLS_CERT_ALTNAME_INVALID"],
  [
    "of an authority that nobody knows",
    identify(["api.example.com"], { issuer: stranger }),
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ],
  ["that has expired", identify(["api.example.com"], { days: -1 }), "CERT_HAS_EXPIRED"],
] as const) {
  test(`a certificate ${what} is rejected, and nothing is sent`, async (t) => {
    const upstreams = createUpstreams(t, { guard: new TestGuard(["127.0.0.1"]) });
    const { port, connections } = await secureUpstream(t, [], identity);
    const { outcome } = callUpstream(upstreams, `https://api.example.com:${port}/`);
    t.like(await outcome, { status: 0, cause: reason, wasSent: false });
    t.true(connections.every(({ requests }) => requests.length === 0));
  });
}

test("an upstream without TLS is an error", async (t) => {
  const upstreams = createUpstreams(t);
  const server = createNetServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  const { port } = await createRawUpstream(t, () => {}, server);
  const { error, cause, wasSent } = await callUpstream(upstreams, `https://127.0.0.1:${port}`).outcome;
  t.regex(error ?? "", /^upstream_error: /);
  t.regex(cause ?? "", /^(?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ECONNRESET)$/);
  t.false(wasSent);
});

test("an authority of NODE_EXTRA_CA_CERTS is trusted", async (t) => {
  const { url } = await secureUpstream(t, ["127.0.0.1"]);
  const file = path.join(await createTestFolder(t), "authority.pem");
  writeFileSync(file, authority.certificate);
  const folder = path.join(import.meta.dirname, "../helpers");
  const program = `
    const { callUpstream, createUpstreams } = await import(${JSON.stringify(`${folder}/call-upstream.ts`)});
    const upstreams = createUpstreams({ teardown() {} });
    console.log((await callUpstream(upstreams, "${url}").outcome).cause);
    await upstreams.close();`;
  const run = async (env: Record<string, string>) => {
    const options = { env: { ...process.env, ...env } };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "-e", program],
      options,
    );
    return stdout.trim();
  };
  t.is(await run({ NODE_EXTRA_CA_CERTS: file }), "null");
  t.is(await run({ NODE_EXTRA_CA_CERTS: "" }), "SELF_SIGNED_CERT_IN_CHAIN");
});

for (const scheme of ["http", "https"] as const) {
  test(`an unreachable address falls back to the next one, ${scheme}`, async (t) => {
    // Only the last address has a server.
    const upstreams = createUpstreams(t, { guard: new TestGuard(["127.0.0.2", "::1", "127.0.0.1"]) });
    const { port } =
      scheme === "https"
        ? await secureUpstream(t, ["api.example.com"])
        : await createRawUpstream(t, ({ socket }) => socket.write(hello));
    const { outcome } = callUpstream(upstreams, `${scheme}://api.example.com:${port}/`);
    t.like(await outcome, { error: null, body: "hello" });
  });

  test(`without a reachable address, the first failure is reported, ${scheme}`, async (t) => {
    const upstreams = createUpstreams(t, { guard: new TestGuard(["127.0.0.2", "127.0.0.3"]) });
    const { port } = await createRawUpstream(t, () => {});
    const { error, wasSent } = await callUpstream(upstreams, `${scheme}://api.example.com:${port}/`).outcome;
    t.regex(error ?? "", /^upstream_error: .* the connection was refused\. Retry/);
    t.false(wasSent);
  });

  test(`the connect timeout covers the lookup and TLS, ${scheme}`, async (t) => {
    const guard = new TestGuard([]);
    const silent: LookupFunction = () => {};
    Object.assign(guard, { lookupPublic: silent });
    const connectTimeoutMs = 200;
    const { error, wasSent } = await callUpstream(
      createUpstreams(t, { guard }),
      `${scheme}://api.example.com/`,
      {
        timeouts: { connectTimeoutMs },
      },
    ).outcome;
    t.is(
      error,
      "upstream_timeout: The request to the provider failed: the connection attempt timed out. Retry the request.",
    );
    t.false(wasSent);

    if (scheme === "http") return;
    const { port, connections } = await createRawUpstream(t, () => {});
    const handshake = callUpstream(createUpstreams(t), `https://127.0.0.1:${port}`, {
      timeouts: { connectTimeoutMs },
    });
    t.like(await handshake.outcome, { error, wasSent: false });
    await eventually(() => connections[0]?.isClosed);
  });

  test(`private addresses are refused, literal or resolved, ${scheme}`, async (t) => {
    const { port, connections } = await createRawUpstream(t, ({ socket }) => socket.write(hello));
    const upstreams = createUpstreams(t, { guard: new AddressGuard([`127.0.0.3:${port}`]) });
    for (const host of ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "localhost"]) {
      const { error, wasSent } = await callUpstream(upstreams, `${scheme}://${host}:${port}/`).outcome;
      t.regex(error ?? "", /^upstream_error: .* its address is private/, host);
      t.false(wasSent);
    }
    t.is(connections.length, 0);
  });
}
