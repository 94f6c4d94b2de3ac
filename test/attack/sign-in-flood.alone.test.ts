import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import test, { type ExecutionContext } from "ava";
import { recommendedStrength } from "../../gateway/runtime.ts";
import { callProcedure } from "../helpers/call-procedure.ts";
import { eventually } from "../helpers/eventually.ts";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { administrator, signIn } from "../helpers/test-gateway.ts";

const { email, password } = administrator;
const clients = isFull ? 50 : 16;
const requestsPerRound = isFull ? 1_000 : 75;
const roundsMax = isFull ? 15 : 5;
// Below full scale, the p99 latency would mostly measure the load of other tests.
const quantile = isFull ? 0.99 : 0.5;
const ratioMax = isFull ? 1.2 : 1.5;
const growthMiBMax = 128;

test("a flood of sign-ins costs chats no more than one busy core, and no memory", async (t) => {
  const gateway = startGatewayProcess(t, {
    PORT: "0",
    DATA_DIR: await createTestFolder(t),
    ADMIN_EMAIL: email,
    ADMIN_PASSWORD: password,
    // With one trusted proxy, the gateway uses the address in each sign-in's X-Forwarded-For header.
    TRUSTED_PROXIES: "1",
    LOG_LEVEL: "error",
  });
  const url = await gateway.listening();
  const { keys } = await signIn(url, administrator);
  const { value } = await keys.create.mutate({ name: "Flooded", models: ["demo/echo"] });

  const measureChat = async () => {
    const latencies: number[] = [];
    for (let sent = 0; sent < requestsPerRound; sent++) {
      const startedAt = performance.now();
      const { status } = await postChat({ url }, value, chatBody("demo/echo"));
      latencies.push(performance.now() - startedAt);
      t.is(status, 200);
    }
    return latencies.toSorted((a, b) => a - b)[Math.floor(requestsPerRound * quantile)] ?? Number.NaN;
  };
  const residentMiB = async () => {
    const status = await readFile(`/proc/${gateway.child.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  };

  await measureChat();
  let attempts = 0;
  const ratios: number[] = [];
  const quietRatios: number[] = [];
  const floodedMiB: number[] = [];
  // Other load disturbs single rounds. A harmful flood slows every round.
  for (let round = 0; round < roundsMax; round++) {
    const quiet = await measureChat();
    const hasher = await startHasher(t);
    const besideHasher = await measureChat();
    hasher.kill("SIGKILL");
    const flood = startFlood(() => trySignIn(url, ++attempts));
    await eventually(() => flood.answered() >= clients);
    const flooded = await measureChat();
    floodedMiB.push(await residentMiB());
    await flood.stop();
    ratios.push(flooded / besideHasher);
    quietRatios.push(flooded / quiet);
    // The memory check needs a second round to compare with the first.
    if (round > 0 && Math.min(...ratios) <= ratioMax) break;
  }

  const ratio = Math.min(...ratios);
  const grownMiB = Math.max(...floodedMiB) - (floodedMiB[0] ?? 0);
  const measured = { attempts, ratio: ratio.toFixed(2), grownMiB: grownMiB.toFixed(0) };
  if (isFull) t.log(figures("a flood of sign-ins", measured), { ratios, quietRatios });
  t.true(ratio <= ratioMax, `the latency is ${ratio.toFixed(2)} times as long`);
  t.true(grownMiB < growthMiBMax, `memory grew by ${grownMiB.toFixed(0)} MiB`);
});

/**
 * Starts a program that hashes passwords without pause, as a flood makes the gateway do. It takes the same core, cache
 * and memory bandwidth, so chats beside it take as long as a harmless flood allows.
 */
async function startHasher(t: ExecutionContext) {
  const { memory, passes, parallelism } = recommendedStrength;
  const hashing = { message: "wrong password", nonce: "0123456789abcdef", tagLength: 32 };
  const parameters = JSON.stringify({ ...hashing, memory, passes, parallelism });
  const program = `console.log(); for (;;) require("node:crypto").argon2Sync("argon2id", ${parameters});`;
  const hasher = spawn(process.execPath, ["--eval", program], { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => hasher.kill("SIGKILL"));
  await once(hasher.stdout, "data");
  return hasher;
}

/** Uses a new email address and a new IP address each time, so that no sign-in limit applies. */
async function trySignIn(url: string, number: number): Promise<void> {
  const input = { email: `nobody${number}@example.com`, password: "wrong password" };
  const headers = { "x-forwarded-for": `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}` };
  const { code } = await callProcedure({ url }, "auth.signIn", { input, headers });
  if (code !== "UNAUTHORIZED") throw new Error(`The gateway answered ${code}.`);
}

function startFlood(attempt: () => Promise<void>) {
  let isOver = false;
  let answered = 0;
  const attacking = Promise.all(
    Array.from({ length: clients }, async () => {
      for (; !isOver; answered++) await attempt();
    }),
  );
  return {
    answered: () => answered,
    async stop() {
      isOver = true;
      await attacking;
    },
  };
}
