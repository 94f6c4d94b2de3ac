import test, { type ExecutionContext } from "ava";
import type { Answer, Asked, NativeUpstream } from "../helpers/native-upstreams/native-upstream.ts";
import { VendorRefusal } from "../helpers/native-upstreams/vendor-refusal.ts";
import { isFull } from "../helpers/scale.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { comparableAsked } from "./comparable-asked.ts";
import { expectedAsked, expectedOutcome, type Play } from "./expected.ts";
import { leave, slowAnswer } from "./leave.ts";
import { scenario } from "./scenario.ts";
import { type Outcome, type ScenarioClient, ScenarioFailure } from "./scenario-client.ts";
import { type SharedConnection, shareVendor } from "./share-vendor.ts";
import { type Failure, plainAnswer, plainUsage, type Step } from "./step.ts";
import { isNative, vendorsFor } from "./vendors.ts";

/**
 * Registers a test of every step against every vendor. Call it at the top level of a test file.
 * @param every below full scale, the part of the steps for vendors whose requests are translated
 */
export function playScenario(client: ScenarioClient, { every = 1 } = {}): void {
  const gateway = shareGateway();
  for (const [row, vendor] of vendorsFor(client).entries()) {
    const prepare = shareVendor(gateway, vendor);
    for (const stream of [false, true]) {
      const play = { client, vendor, stream };
      const how = stream ? ", streamed" : "";
      for (const [index, step] of scenario.entries()) {
        if (step.onlyStreamed && !stream) continue;
        // Below full scale, each step runs at most once per vendor, streamed or not.
        const isRightForm = step.onlyStreamed || ((index + row) % 2 === 0) === stream;
        const isOmitted = !isNative(client, vendor) && (index + row) % (2 * every) > 1;
        if (!isFull && (!isRightForm || isOmitted)) continue;
        test.serial(`${client.name}, ${vendor.name}: ${step.title}${how}`, async (t) => {
          const connection = await prepare((asked) => answerOf(step, asked));
          await playStep(t, connection, step, play);
        });
      }
      test.serial(
        `${client.name}, ${vendor.name}: a disconnecting client stops the upstream${how}`,
        async (t) => {
          await leave(t, await prepare(() => slowAnswer), play);
        },
      );
    }
  }
}

async function playStep(
  t: ExecutionContext,
  { upstream, options, newRecords }: SharedConnection,
  step: Step,
  play: Play,
): Promise<void> {
  const attempt = play.client.converse(step.request, { ...options, stream: play.stream });
  const expected = expectedOutcome(step, play);
  if ("failure" in expected) await checkFailure(t, attempt, expected);
  else await checkOutcome(t, attempt, expected, upstream);

  const asked = expectedAsked(step, play);
  const names = upstream.asked.length === 0 ? [] : Object.keys(asked);
  t.deepEqual(comparableAsked(upstream.asked.at(-1) ?? {}, names), comparableAsked(asked, names));

  const { input: inputTokens, cached: cachedInputTokens, output: outputTokens } = plainUsage;
  const counts = { inputTokens, cachedInputTokens, outputTokens };
  const endpoint = play.client.dialect === "chat" ? "chat/completions" : play.client.dialect;
  const records = await newRecords();
  t.is(records.length, Math.max(upstream.asked.length, 1));
  for (const record of records) {
    t.is(record.endpoint, endpoint);
    t.like(record, "failure" in expected ? { status: "FAILED" } : { status: "SUCCEEDED", ...counts });
  }
}

/** Selects the response by the number of the model's turns since the step started. */
function answerOf({ request, answers }: Step, { turns }: Asked): Answer | VendorRefusal {
  const before = request.messages.filter(({ role }) => role === "assistant").length;
  const answer = answers[turns.filter(({ role }) => role === "assistant").length - before];
  if (answer === undefined) throw new Error("The model is asked once too often.");
  return answer instanceof VendorRefusal ? answer : { ...plainAnswer, ...answer };
}

async function checkOutcome(
  t: ExecutionContext,
  attempt: Promise<Outcome>,
  expected: Outcome,
  upstream: NativeUpstream,
): Promise<void> {
  const outcome = await attempt.catch((error: unknown) => String(error));
  t.deepEqual(upstream.refusals, []);
  t.deepEqual(outcome, expected);
}

async function checkFailure(
  t: ExecutionContext,
  attempt: Promise<Outcome>,
  { failure }: Failure,
): Promise<void> {
  const { status, message, text = [] } = failure;
  const error = await t.throwsAsync(attempt, { instanceOf: ScenarioFailure });
  if (status !== undefined) t.is(error?.status, status, error?.message);
  t.true(error?.message.includes(message), error?.message);
  t.is(error?.text.join(""), text.join(""));
}
