import test, { type ExecutionContext } from "ava";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

/**
 * Owner of what all tests of a file share, such as one gateway: hand it to the helpers in place of `t`, in a
 * `test.before`. What they started stops after the file's last test, the latest first; ava has no `t.teardown` in hooks.
 */
export function sharedByFile(): Pick<ExecutionContext, "teardown"> {
  const teardowns: (() => unknown)[] = [];
  test.after.always(async () => {
    for (const teardown of teardowns.toReversed()) await teardown();
  });
  return { teardown: (stop: () => unknown) => void teardowns.push(stop) };
}

/**
 * One gateway for all tests of a file that do not get in each other's way: to start one costs half a second of CPU time.
 * Called at the top of the file; what it returns gives the gateway to the tests.
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
