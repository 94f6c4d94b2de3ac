import { readFileSync } from "node:fs";
import test from "ava";
import { askHistory } from "../helpers/ask-history.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const readme = readFileSync(new URL("../../gateway/usage/README.md", import.meta.url), "utf8");
const section = readme.split("\n## ").find((text) => text.startsWith("Query it")) ?? "";

test("the query in gateway/usage/README.md returns the result beside it", async (t) => {
  const { query } = JSON.parse(/-d '(.+)'\n/.exec(section)?.[1] ?? "") as { query: string };
  const [, shown = ""] = /```json\n([^]+?)\n```/.exec(section) ?? [];
  const [expected] = (JSON.parse(shown) as { data: { usageSummary: object[] } }).data.usageSummary;

  const gateway = await startTestGateway(t);
  const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
  const { value, model } = await connectUpstream(gateway, upstream, { name: "acme" });
  for (const status of [200, 200, 200, 200, 400]) {
    const body = chatBody(model, "Hello", status === 400 ? { temperature: 3 } : {});
    t.is((await postChat(gateway, value, body)).status, status);
  }
  await gateway.services.recorder.flush();

  const { data, errors } = await askHistory<{ usageSummary: object[]; usageRecords: { edges: unknown[] } }>(
    gateway,
    gateway.accessToken,
    query,
  );
  t.deepEqual(errors, []);
  const today = new Date(new Date().setUTCHours(0, 0, 0, 0)).toISOString();
  t.deepEqual(data?.usageSummary, [{ ...expected, interval: today }]);
  t.is(data?.usageRecords.edges.length, 5);
});
