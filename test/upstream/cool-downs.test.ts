import test from "ava";
import { CoolDowns } from "../../gateway/routing/cool-downs.ts";
import { addModel, answersWith, askModel, type Script } from "../helpers/add-model.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const shared = sharedByFile();
let gateway: TestGateway;

test.before(async () => {
  gateway = await startTestGateway(shared);
});

const reports =
  (error: object): Script =>
  (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "Not now.", ...error } }));
  };

for (const [refusal, status, refuse] of [
  ...[429, 503, 529].flatMap((code): [string, number, Script][] => [
    [`${code}`, code, answersWith(code)],
    [`${code} inside a 200`, code, reports({ code })],
  ]),
  ["rate_limit_error inside a 200", 429, reports({ type: "rate_limit_error" })],
  ["service_unavailable inside a 200", 503, reports({ code: "service_unavailable" })],
  ["overloaded_error inside a 200", 529, reports({ type: "overloaded_error" })],
] satisfies [string, number, Script][]) {
  test(`another model of the provider answers after ${refusal}`, async (t) => {
    const answers = [refuse, sendCompletion, sendCompletion];
    const own = await addModel(t, gateway, (response) => answers.shift()?.(response));
    const { slug, name, providerId } = own;
    const second = `${name}/second`;
    await gateway.admin.models.create.mutate({ slug: second, providerId, upstreamModel: "second" });
    await gateway.admin.models.update.mutate({ slug, fallbacks: [second] });
    for (const attempts of [2, 1]) {
      const { answer, record } = await askModel(gateway, slug);
      t.is(answer.status, 200);
      t.like(record, { provider: name, upstreamModel: "second", attempts });
    }
    const [health] = (await gateway.admin.providers.health.query()).filter(({ id }) => id === providerId);
    t.is(health?.credentials[0]?.lastErrorCode, `http_${status}`);
  });
}

test("a 403 diverts only its own request, because it may concern the prompt", async (t) => {
  const answers = [answersWith(403, { "retry-after": "300" }), sendCompletion];
  const other = await addModel(t, gateway, sendCompletion);
  const own = await addModel(t, gateway, (response) => answers.shift()?.(response), [other.slug]);
  t.like((await askModel(gateway, own.slug)).record, { provider: other.name, attempts: 2 });
  t.like((await askModel(gateway, own.slug)).record, { provider: own.name, attempts: 1 });
});

test("a later refusal does not shorten a cool-down", (t) => {
  const coolDowns = new CoolDowns({ now: () => 0, monotonicNow: () => 0 });
  const candidate = { providerId: "prv_1", credentialId: null, upstreamModel: { name: "a" } };
  for (const [ms, leftMs] of [
    [30_000, 30_000],
    [5_000, 30_000],
    [60_000, 60_000],
  ] as const) {
    coolDowns.start({ ...candidate, providerName: "one" }, ms, { code: "http_429", reason: null });
    t.is(coolDowns.leftMs(candidate), leftMs);
  }
});
