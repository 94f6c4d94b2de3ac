import test from "ava";
import { eventually } from "../helpers/eventually.ts";
import { modelRow, providerRow } from "../helpers/open-test-database.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

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
      await models.insert(modelRow(`mdl_${name}2`, `prv_${name}`, { slug: `${name}/other` }));
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
