import test from "ava";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey, usageOf } from "../helpers/test-gateway.ts";

const gateway = shareGateway();

test.before(async () => {
  const { admin } = gateway();
  const provider = await admin.providers.create.mutate({ name: "shelf", kind: "demo" });
  for (const name of ["a", "b", "c", "d", "e"]) {
    await admin.models.create.mutate({
      slug: `shelf/${name}`,
      providerId: provider.id,
      upstreamModel: "echo",
    });
  }
});

type Page = { data: { id: string }[]; has_more: boolean; first_id: string | null; last_id: string | null };

async function get(path: string): Promise<{ status: number; body: Page }> {
  const models = ["a", "b", "c", "d", "e"].map((name) => `shelf/${name}`);
  const { value } = await createKey(gateway(), models);
  const headers = { "x-api-key": value, "anthropic-version": "2023-06-01" };
  const response = await fetch(`${gateway().url}${path}`, { headers });
  return { status: response.status, body: (await response.json()) as Page };
}

const names = ({ data }: Page) => data.map(({ id }) => id.replace("shelf/", "")).join("");

test("Anthropic clients receive the models in their form, in pages", async (t) => {
  const all = await get("/v1/models?limit=1000");
  t.is(names(all.body), "abcde");
  t.like(all.body, { has_more: false, first_id: "shelf/a", last_id: "shelf/e" });
  t.like(all.body.data[0], { type: "model", display_name: "shelf/a" });

  const first = await get("/v1/models?limit=2");
  t.is(names(first.body), "ab");
  t.true(first.body.has_more);
  const next = await get(`/v1/models?limit=2&after_id=${first.body.last_id}`);
  t.is(names(next.body), "cd");
  const before = await get("/v1/models?limit=2&before_id=shelf/d");
  t.is(names(before.body), "bc");
  t.true(before.body.has_more);
  t.is(names((await get("/models")).body), "abcde");
});

test("a model and a missing one are returned in Anthropic's form", async (t) => {
  t.like(await get("/v1/models/shelf/c"), { status: 200, body: { type: "model", id: "shelf/c" } });
  for (const [path, status, type] of [
    ["/v1/models/shelf/x", 404, "not_found_error"],
    ["/v1/models?limit=0", 400, "invalid_request_error"],
    ["/v1/models?limit=many", 400, "invalid_request_error"],
    ["/v1/models?after_id=shelf/x", 400, "invalid_request_error"],
  ] as const) {
    t.like(await get(path), { status, body: { type: "error", error: { type } } }, path);
  }
});

test("Claude Code's reachability check is answered without a key", async (t) => {
  t.is((await fetch(`${gateway().url}/api/hello`, { method: "HEAD" })).status, 200);
});

test("the usage record names the endpoint and the tool", async (t) => {
  const key = await createKey(gateway());
  const ask = (path: string, userAgent: string, body: object) =>
    fetch(`${gateway().url}/v1/${path}`, {
      method: "POST",
      headers: { "x-api-key": key.value, "content-type": "application/json", "user-agent": userAgent },
      body: JSON.stringify({ model: "demo/echo", ...body }),
    }).then((response) => response.text());
  const messages = [{ role: "user", content: "Hi" }];
  await ask("messages", "claude-cli/2.1.329 (external, cli)", { messages, max_tokens: 10 });
  await ask("responses", "codex_exec/0.169.0 (Debian 12)", { input: "Hi" });
  await ask("chat/completions", "opencode/1.18.33", { messages });
  await ask("chat/completions", "curl/8.0", { messages });
  const records = await usageOf(gateway(), key.id);
  t.deepEqual(records.map(({ endpoint, clientTool }) => [endpoint, clientTool]).toReversed(), [
    ["messages", "claude-code"],
    ["responses", "codex"],
    ["chat/completions", "opencode"],
    ["chat/completions", null],
  ]);
});
