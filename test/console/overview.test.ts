import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest(
  "the overview counts the last day, and a newcomer's steps go away as they are taken",
  async (t) => {
    const gateway = await startTestGateway(t);
    const page = await openSignedIn(t, { browser: browser(), gateway });
    await page.getByRole("link", { name: "Add a provider" }).waitFor();
    await page.getByRole("link", { name: /^Requests 0/ }).waitFor();
    await assertAccessible(t, page);

    await gateway.admin.providers.create.mutate({
      name: "openai",
      kind: "openai-compatible",
      baseUrl: "https://api.example.com/v1",
      apiKey: "sk-test",
    });
    const key = await createKey(gateway);
    await postChat(gateway, key.value, {
      model: "demo/echo",
      messages: [{ role: "user", content: "Hello" }],
    });
    await postChat(gateway, key.value, {
      model: "demo/echo",
      messages: [{ role: "user", content: "/fail 500" }],
    });
    await gateway.services.recorder.flush();
    await page.reload();
    await page.getByRole("link", { name: /^Requests 2/ }).waitFor();
    await page.getByRole("link", { name: /^Errors 1/ }).waitFor();
    await page.getByRole("link", { name: /^Latency, 95% of requests within – \d+ ms on average/ }).waitFor();
    t.is(await page.getByRole("heading", { name: "Next steps" }).count(), 0);
    await page.getByRole("listitem").filter({ hasText: "openai" }).getByText("Not used lately").waitFor();
    await assertAccessible(t, page);
  },
);

browserTest("what the demo answers costs nothing, and nothing of it is unknown", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  await postChat(gateway, key.value, chatBody("demo/echo", "Hello"));
  await gateway.services.recorder.flush();
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: /^Cost \$0\.00/ }).waitFor();
  t.is(await page.getByText("unknown").count(), 0);
  await page.goto("/usage");
  await page.getByRole("cell", { name: "$0.00" }).waitFor();
  t.is(await page.getByText("of unknown cost").count(), 0);
});

browserTest("who has long used the gateway is no newcomer again when the only key goes", async (t) => {
  const gateway = await startTestGateway(t);
  const upstream = await createUpstream(t, (_, response) => sendCompletion(response));
  const { id, value, model } = await connectUpstream(gateway, upstream, { name: "house" });
  t.is((await postChat(gateway, value, chatBody(model))).status, 200);
  await gateway.services.recorder.flush();
  await gateway.admin.keys.delete.mutate({ id });
  const page = await openSignedIn(t, { browser: browser(), gateway });
  await page.getByRole("link", { name: /^Requests 1/ }).waitFor();
  await page.getByRole("listitem").filter({ hasText: "house" }).waitFor();
  t.is(await page.getByRole("heading", { name: "Next steps" }).count(), 0);
});

browserTest("a member's overview is of the member's own keys, and says nothing of providers", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  await postChat(gateway, key.value, { model: "demo/echo", messages: [{ role: "user", content: "Hello" }] });
  await gateway.services.recorder.flush();
  const { email, password } = await addPerson(gateway, "grace@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, email, password });
  await page.getByRole("link", { name: /^Requests 0/ }).waitFor();
  await page.getByRole("link", { name: "Create an API key" }).waitFor();
  t.is(await page.getByRole("link", { name: "Add a provider" }).count(), 0);
  t.is(await page.getByRole("heading", { name: "Providers" }).count(), 0);
  await assertAccessible(t, page);
});
