import { Session } from "node:inspector/promises";
import test, { type ExecutionContext } from "ava";
import { addModel } from "../helpers/add-model.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { beginStream, chunkEvent, doneEvent, usageEvent } from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

test("a streamed chat completion passes through at most 34 files", async (t) => {
  // The gateway must not ship usage records during the measured requests.
  const gateway = await startTestGateway(t, { environment: { USAGE_FLUSH_INTERVAL_MS: "60000" } });
  const { slug } = await addModel(t, gateway, (response) => {
    beginStream(response);
    response.end(chunkEvent("Hello") + usageEvent + doneEvent);
  });
  const { id } = await gateway.admin.models.get.query({ slug });
  await gateway.admin.models.update.mutate({ id, prices: { input: 1, output: 2 } });
  const key = await createKey(gateway, [slug]);
  const stream = async () => {
    const { text } = await postChat(gateway, key.value, chatBody(slug, "Hi", { stream: true }));
    t.true(text.endsWith(doneEvent));
  };
  await stream();

  const executedFiles = await startCoverage(t);
  const rounds: Set<string>[] = [];
  for (let round = 0; round < 10; round++) {
    await executedFiles();
    await stream();
    rounds.push(await executedFiles());
  }
  // Timers may run other files during a round, so only files that run in every round count.
  const files = [...(rounds[0] ?? [])].filter((file) => rounds.every((round) => round.has(file))).toSorted();
  t.true(files.includes("completions/answer-request.ts"));
  t.true(files.length <= 34, `${files.length} files:\n${files.join("\n")}`);
});

/** The returned function lists the gateway's files whose code ran since the previous call. */
async function startCoverage(t: ExecutionContext): Promise<() => Promise<Set<string>>> {
  const session = new Session();
  session.connect();
  t.teardown(() => session.disconnect());
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const gateway = new URL("../../gateway/", import.meta.url).href;
  return async () => {
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const executed = result.filter(
      ({ url, functions }) =>
        url.startsWith(gateway) && functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
    );
    const files = new Set(executed.map(({ url }) => url.slice(gateway.length)));
    for (const file of beforeTheRouter) files.delete(file);
    return files;
  };
}

/** These files serve every request, before the router. */
const beforeTheRouter = ["start/start-gateway.ts", "app.ts"];
