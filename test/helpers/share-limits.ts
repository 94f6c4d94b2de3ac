import test from "ava";
import { addModel, type AddedModel } from "./add-model.ts";
import { createPromptedUpstream, type PromptedUpstream } from "./prompted-upstream.ts";
import { sharedByFile } from "./shared-by-file.ts";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

/** Shares one gateway among a file's tests, with an adjustable clock. `keyWith` creates a key with limits. */
export function shareLimits(environment: Record<string, string> = {}) {
  const clock = { aheadMs: 0 };
  const owner = sharedByFile();
  let started: SharedLimits | undefined;
  test.serial.before(async () => {
    const upstream = await createPromptedUpstream(owner);
    const gateway = await startTestGateway(owner, {
      environment: { DATABASE_TIMEOUT_MS: "20000", ...environment },
      runtime: { now: () => Date.now() + clock.aheadMs },
    });
    const model = await addModel(owner, gateway, upstream);
    const keyWith = async (limits: NewLimits) => {
      const criteria = { name: "Limited", models: [model.slug], limits };
      const { key, value } = await gateway.admin.keys.create.mutate(criteria);
      return { id: key.id, value, limits: key.limits };
    };
    started = { gateway, upstream, model, clock, keyWith };
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
  clock: { aheadMs: number };
  keyWith(limits: NewLimits): Promise<LimitedKey>;
};

type NewLimits = Parameters<TestGateway["admin"]["keys"]["create"]["mutate"]>[0]["limits"];
type Created = Awaited<ReturnType<TestGateway["admin"]["keys"]["create"]["mutate"]>>;
type LimitedKey = { id: string; value: string; limits: Created["key"]["limits"] };
