import type { ExecutionContext } from "ava";
import { eventually } from "../helpers/eventually.ts";
import type { Answer } from "../helpers/native-upstreams/native-upstream.ts";
import type { Play } from "./expected.ts";
import type { SharedConnection } from "./share-vendor.ts";
import { plainAnswer, user } from "./step.ts";

export const slowAnswer: Answer = { ...plainAnswer, text: ["One, ", "two"], ending: "silence" };

/**
 * Disconnects the client at the first text or, without streaming, when the upstream has the request. The
 * gateway must then disconnect from the upstream, because vendors bill until the disconnection.
 */
export async function leave(
  t: ExecutionContext,
  { upstream, options, newRecords }: SharedConnection,
  { client, stream }: Play,
): Promise<void> {
  const leaving = new AbortController();
  const onText = () => leaving.abort();
  const request = { messages: [user("Count, slowly.")] };
  const attempt = client.converse(request, { ...options, stream, signal: leaving.signal, onText });
  // On abort, some SDKs throw and others return.
  const ended = attempt.catch(() => null);
  const asked = await eventually(() => upstream.asked[0]);
  if (!stream) leaving.abort();
  await ended;
  t.true(leaving.signal.aborted);
  await eventually(() => upstream.abandoned.includes(asked));
  const records = await eventually(async () => {
    const found = await newRecords();
    return found.length > 0 && found;
  });
  t.deepEqual(
    records.map(({ status }) => status),
    ["CANCELLED"],
  );
}
