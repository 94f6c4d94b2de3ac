import test, { type ExecutionContext } from "ava";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

/**
 * Owns the resources that a file's tests share, and removes them after the last test. Helpers receive the owner as
 * `t`, because ava forbids `t.teardown` in hooks.
 */
export function sharedByFile(): Pick<ExecutionContext, "teardown"> {
  const teardowns: (() => unknown)[] = [];
  test.after.always(async () => {
    for (const teardown of teardowns.toReversed()) await teardown();
  });
  return { teardown: (stop: () => unknown) => void teardowns.push(stop) };
}

/**
 * Shares one gateway among a file's tests, because a start costs half a second of CPU time. Must be called at the top
 * of a file. Returns a getter for the gateway.
 */
export function shareGateway(options: Parameters<typeof startTestGateway>[1] = {}): () => TestGateway {
  let gateway: TestGateway | undefined;
  const owner = sharedByFile();
  test.serial.before(async () => {
    gateway = await startTestGateway(owner, options);
  });
  return () => {
    if (gateway === undefined) throw new Error("The gateway has not been started: is this inside of a test?");
    return gateway;
  };
}
