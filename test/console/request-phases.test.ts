import test from "ava";
import { phasesOf } from "../../console/src/lib/requests/request-phases.ts";
import type { AttemptTiming } from "../../console/src/lib/usage/read-usage-record.ts";

const times = { latencyMs: 1_000, timeToFirstTokenMs: 600, status: "SUCCEEDED", errorReason: null } as const;
const attempt = (startMs: number, durationMs: number, failure: AttemptTiming["failure"] = null) => ({
  provider: "test",
  model: "model",
  startMs,
  durationMs,
  failure,
});

function linesOf(record: Parameters<typeof phasesOf>[0]): string[] {
  return phasesOf(record).map(({ label, startMs, durationMs }) => `${label} ${startMs}+${durationMs}`);
}

test("a request without times of its attempts has two phases", (t) => {
  t.deepEqual(linesOf({ ...times, attempts: 2, timing: null }), [
    "Time to first token 0+600",
    "Output 600+400",
  ]);
});

test("a request without output has one phase", (t) => {
  t.deepEqual(linesOf({ ...times, timeToFirstTokenMs: null, attempts: 0, timing: null }), ["Total 0+1000"]);
});

test("a queued request has its upload and its queue", (t) => {
  const timing = { receivedMs: 20, attempts: [attempt(300, 700)] };
  t.deepEqual(linesOf({ ...times, attempts: 1, timing }), [
    "Upload 0+20",
    "Queue 20+280",
    "Time to first token 300+300",
    "Output 600+400",
  ]);
});

test("failed attempts and the wait after them have their own phases", (t) => {
  const failed = [attempt(1, 99, "http_429"), attempt(300, 50, "connection_refused")];
  const timing = { receivedMs: 1, attempts: [...failed, attempt(350, 650)] };
  t.deepEqual(linesOf({ ...times, attempts: 3, timing }), [
    "Attempt 1: HTTP 429 1+99",
    "Wait before retry 100+200",
    "Attempt 2: connection refused 300+50",
    "Attempt 3: time to first token 350+250",
    "Output 600+400",
  ]);
});

test("the time after the last stored attempt belongs to later ones", (t) => {
  const timing = { receivedMs: 0, attempts: [attempt(0, 100, "http_503")] };
  t.deepEqual(linesOf({ ...times, attempts: 20, timing }), [
    "Attempt 1: HTTP 503 0+100",
    "Later attempts 100+900",
  ]);
});

test("a failed request marks its last attempt as failed, with the reason", (t) => {
  const timing = { receivedMs: 1, attempts: [attempt(1, 99, "http_429"), attempt(300, 700)] };
  const failed = {
    ...times,
    timeToFirstTokenMs: null,
    status: "FAILED",
    errorReason: "first_byte_timeout",
  } as const;
  const phases = phasesOf({ ...failed, attempts: 2, timing });
  t.deepEqual(
    phases.map(({ kind, label }) => `${kind} ${label}`),
    ["failed Attempt 1: HTTP 429", "wait Wait before retry", "failed Attempt 2: first-byte timeout"],
  );
  const [only] = phasesOf({ ...failed, attempts: 1, timing: null });
  t.is(only?.kind, "failed");
});
