import test, { type ExecutionContext } from "ava";
import { addModel, type AddedModel } from "./add-model.ts";
import { createPromptedUpstream, type PromptedUpstream } from "./prompted-upstream.ts";
import { sharedByFile } from "./shared-by-file.ts";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

/** Shares one gateway among a file's tests, with an adjustable clock. `keyWith` creates a key with limits. */
export function shareLimits(environment: Record<string, string> = {}) {
  const clock = { aheadMs: 0, now: Date.now };
  const owner = sharedByFile();
  let started: SharedLimits | undefined;
  test.serial.before(async () => {
    const upstream = await createPromptedUpstream(owner);
    const gateway = await startTestGateway(owner, {
      environment,
      runtime: { now: () => clock.now() + clock.aheadMs },
    });
    const model = await addModel(owner, gateway, upstream);
    const keyWith = async (limits: NewLimits) => {
      const criteria = { name: "Limited", models: [model.slug], limits };
      const { key, value } = await gateway.admin.keys.create.mutate(criteria);
      return { id: key.id, value, limits: key.limits };
    };
    const stopClock = (t: Pick<ExecutionContext, "teardown">) => {
      let time = clock.now();
      // Each reading adds a millisecond, because IDs sort by time.
      const stopped = () => time++;
      clock.now = stopped;
      const goOn = () => {
        if (clock.now !== stopped) return;
        const behindMs = Date.now() - time;
        clock.now = () => Date.now() - behindMs;
      };
      t.teardown(goOn);
      return goOn;
    };
    started = { gateway, upstream, model, clock, stopClock, keyWith };
  });
  return () => {
    if (started === undefined) throw new Error("The gateway has not been started: is this inside of a test?");
    return started;
  };
}

type SharedLimits = {
  gateway: TestGateway;
  upstream: PromptedUpstream;
  model: AddedModel;
  clock: { aheadMs: number; now: () => number };
  /** Keeps a test within a minute, however slow the machine is. Returns a function that lets the clock go on. */
  stopClock(t: Pick<ExecutionContext, "teardown">): () => void;
  keyWith(limits: NewLimits): Promise<LimitedKey>;
};

type NewLimits = Parameters<TestGateway["admin"]["keys"]["create"]["mutate"]>[0]["limits"];
type Created = Awaited<ReturnType<TestGateway["admin"]["keys"]["create"]["mutate"]>>;
type LimitedKey = { id: string; value: string; limits: Created["key"]["limits"] };
