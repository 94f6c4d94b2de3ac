import test from "ava";
import { serverKind } from "../helpers/test-database.ts";
import { startThreeProcesses } from "../helpers/three-processes.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";

const requestsPerMinute = 600;
const count = (answers: { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;
/** The time of four exchange intervals, after which all processes know the use. */
const boundMs = 1_000;

if (serverKind) {
  test.serial("without Valkey three processes exceed the limit by at most the stated margin", async (t) => {
    t.timeout(120_000);
    const three = await startThreeProcesses(t, { limits: { requestsPerMinute } });
    const answers = await three.ask(700, 8);
    const through = answers.filter(({ status }) => status === 200);
    const within = through.map(
      ({ at }) => through.filter((each) => each.at >= at && each.at < at + boundMs).length,
    );
    // Two of three processes admit this many requests meanwhile, plus the requests in flight.
    const overshootMax = Math.ceil((Math.max(...within) * 2) / 3) + 3 * 8;
    t.log(
      `${through.length} of ${answers.length} let through, the stated overshoot at this pace is ${overshootMax}`,
    );
    t.true(through.length >= requestsPerMinute && through.length <= requestsPerMinute + overshootMax);
    t.is(count(answers, 429), answers.length - through.length);
  });
}

if (serverKind && valkeyProgram) {
  test.serial("with Valkey three processes admit exactly 600 of 600 a minute", async (t) => {
    t.timeout(120_000);
    const { url } = await startValkey(t);
    const three = await startThreeProcesses(t, {
      limits: { requestsPerMinute },
      environment: { VALKEY_URL: url, VALKEY_TIMEOUT_MS: "20000" },
    });
    const startedAt = performance.now();
    const answers = await three.ask(400, 16);
    const seconds = (performance.now() - startedAt) / 1000;
    t.log(`${count(answers, 200)} of ${answers.length} let through in ${seconds.toFixed(1)} s`);
    t.true(seconds < 58, "it has to be one minute");
    t.is(count(answers, 200), requestsPerMinute);
    t.is(count(answers, 429), answers.length - requestsPerMinute);
    for (const { log } of three.gateways) t.notRegex(log(), /Valkey is unavailable/);
  });
}
