import { writeFileSync } from "node:fs";
import path from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import test from "ava";
import { freePort } from "../helpers/free-port.ts";
import { makeCertificate } from "../helpers/make-certificate.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";

if (valkeyProgram) {
  test("two gateways share counts over TLS only if they trust Valkey's certificate", async (t) => {
    const authority = makeCertificate({ name: "Test authority" });
    const { key, certificate } = makeCertificate({ name: "valkey", hosts: ["127.0.0.1"], issuer: authority });
    const folder = await createTestFolder(t);
    const place = (name: string, text: string) => {
      writeFileSync(path.join(folder, name), text);
      return path.join(folder, name);
    };
    const port = await freePort();
    await startValkey(
      t,
      "--tls-port",
      String(port),
      "--tls-auth-clients",
      "no",
      "--tls-cert-file",
      place("certificate.pem", certificate),
      "--tls-key-file",
      place("key.pem", key),
      "--tls-ca-cert-file",
      place("authority.pem", authority.certificate),
    );
    const environment = { VALKEY_URL: `rediss://127.0.0.1:${port}` };
    const stranger = await startTestGateway(t, { environment });
    t.is(await remaining(stranger, await limitedKey(stranger)), "5");
    t.regex(stranger.log.join(""), /certificate.*Valkey is unavailable/);
    t.notRegex(stranger.log.join(""), /"level":"error"/, "to wait for Valkey disturbs nobody");

    setDefaultCACertificates([...getCACertificates(), authority.certificate]);
    const one = await startTestGateway(t, { environment });
    const { DATABASE_URL = "", DATA_DIR = "" } = one.environment;
    const other = await startTestGateway(t, { environment: { ...environment, DATABASE_URL, DATA_DIR } });
    const value = await limitedKey(one);
    t.is(await remaining(one, value), "5");
    t.is(await remaining(other, value), "4");
    t.is(await remaining(one, value), "3");
    t.notRegex([...one.log, ...other.log].join(""), /Valkey is unavailable/);
  });
}

async function limitedKey(gateway: TestGateway): Promise<string> {
  const { id, value } = await createKey(gateway);
  await gateway.admin.keys.setLimits.mutate({ id, limits: { requestsPerMinute: 6 } });
  return value;
}

async function remaining(gateway: TestGateway, value: string): Promise<string | null> {
  const { status, headers } = await postChat(gateway, value, chatBody("demo/echo", "x"));
  return status === 200 ? headers.get("x-ratelimit-remaining-requests") : `status ${status}`;
}
