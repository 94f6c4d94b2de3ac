import test, { type ExecutionContext } from "ava";
import { eventually, hangMs } from "../helpers/eventually.ts";
import { openChat } from "../helpers/open-chat.ts";
import { chatBody } from "../helpers/post-chat.ts";
import { beginStream, chunkEvent, createUpstream } from "../helpers/scripted-upstream.ts";
import { createMigratedDatabase } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { setStage, type Stage } from "./stage.ts";

const plan = isFull
  ? { clients: 1_000, together: 20, stopMs: 50 }
  : { clients: 40, together: 4, stopMs: hangMs };

/** The positions in the response where a client disconnects, with the number of words received by then. */
const places = [
  { name: "before the answer", stream: false, words: 0 },
  { name: "before the first token", stream: true, words: 0 },
  { name: "in mid-stream", stream: true, words: 60 },
  { name: "at the last chunk", stream: true, words: 200 },
];
type Place = (typeof places)[number];

const numberOf = (body: string) => Number(/client (\d+)/.exec(body)?.[1]);

async function play(t: ExecutionContext, bug?: string) {
  const arrived = new Map<number, () => void>();
  const stopped = new Map<number, () => void>();
  let open = 0;
  const upstream = await createUpstream(t, ({ body }, response) => {
    const client = numberOf(body);
    const { words, stream } = placeOf(client);
    open++;
    response.on("close", () => {
      open--;
      stopped.get(client)?.();
    });
    arrived.get(client)?.();
    if (!stream) return;
    beginStream(response);
    for (let word = 0; word < words; word++) response.write(chunkEvent(" word"));
  });
  const databaseUrl = await createMigratedDatabase(t, "sqlite");
  const stage = await setStage(t, { upstream, databaseUrl, dataDir: await createTestFolder(t), bug });

  const stopMs: number[] = [];
  let next = 0;
  const leaveOneByOne = async () => {
    for (let client = next++; client < plan.clients; client = next++) {
      const hasArrived = new Promise<void>((resolve) => arrived.set(client, resolve));
      const hasStopped = new Promise<boolean>((resolve) => {
        stopped.set(client, () => resolve(true));
      });
      const leave = await openRequest(stage, client, hasArrived);
      const leftAt = performance.now();
      leave();
      const isStopped = await Promise.race([hasStopped, giveUp(bug ? 200 : hangMs)]);
      stopMs.push(isStopped ? performance.now() - leftAt : Infinity);
    }
  };
  await Promise.all(Array.from({ length: plan.together }, leaveOneByOne));

  const isRecorded = async () => (await stage.records()).length === plan.clients;
  // A seeded bug can lose records.
  if (bug) await eventually(isRecorded, 10_000).catch(() => {});
  else await eventually(isRecorded);
  const records = await stage.records();
  const sorted = stopMs.toSorted((left, right) => left - right);
  const at = (share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? Infinity).toFixed(1);
  const cancelled = records.filter(({ status, estimated }) => status === "CANCELLED" && estimated === 1);
  const words = plan.clients / places.length;
  const result = {
    recorded: records.length,
    cancelledAndEstimated: cancelled.length,
    stillOpen: open,
    inputTokens: average(cancelled.map(({ inputTokens }) => inputTokens)),
    outputTokensOfWords: `${sum(cancelled.map(({ outputTokens }) => outputTokens))}/${words * sum(places.map((place) => place.words))}`,
    stopP50Ms: at(0.5),
    stopP99Ms: at(0.99),
  };
  t.log(figures(`L5${bug ? ` ${bug}` : ""}, ${plan.clients} clients leave`, result));
  return {
    ...result,
    stopP99Ms: Number(result.stopP99Ms),
    outputTokens: sum(cancelled.map((record) => record.outputTokens)),
  };
}

function placeOf(client: number): Place {
  return places[client % places.length] ?? { name: "", stream: false, words: 0 };
}

/** Resolves when the client should disconnect, with a function that disconnects it. */
async function openRequest(stage: Stage, client: number, hasArrived: Promise<void>) {
  const { stream, words } = placeOf(client);
  const body = chatBody(stage.model, `I am client ${client}`, { stream });
  const { request, text } = openChat(stage, stage.key, body);
  await hasArrived;
  await eventually(() => words === 0 || text().split(" word").length > words);
  return () => request.destroy();
}

function giveUp(afterMs: number): Promise<boolean> {
  return new Promise((resolve) => void setTimeout(() => resolve(false), afterMs).unref());
}

const sum = (counts: (number | null)[]) => counts.reduce<number>((total, count) => total + (count ?? 0), 0);
const average = (counts: (number | null)[]) => Math.round(sum(counts) / Math.max(1, counts.length));

test.serial("a disconnecting client stops the upstream, and the received part is recorded", async (t) => {
  t.timeout(600_000);
  const result = await play(t);
  t.is(result.recorded, plan.clients);
  t.is(result.cancelledAndEstimated, plan.clients);
  t.is(result.stillOpen, 0);
  t.true(result.stopP99Ms <= plan.stopMs, `${result.stopP99Ms} ms`);
  const words = (plan.clients / places.length) * sum(places.map((place) => place.words));
  t.true(Math.abs(result.outputTokens / words - 1) < 0.1);
  t.true(result.inputTokens > 3 && result.inputTokens < 20);
});

const negativeControl = isFull ? test.serial : test.serial.skip;

negativeControl("negative control: an upstream that is not stopped continues", async (t) => {
  t.timeout(600_000);
  const result = await play(t, "let-the-upstream-go-on.ts");
  t.true(result.stillOpen > 0);
  t.is(result.stopP99Ms, Infinity);
});
