import test, { type ExecutionContext } from "ava";

/**
 * Owner of what all tests of a file share, such as one gateway: hand it to the helpers in place of `t`, in a
 * `test.before`. What they started stops after the file's last test, the latest first; ava has no `t.teardown` in hooks.
 */
export function sharedByFile(): ExecutionContext<unknown> {
  const teardowns: (() => unknown)[] = [];
  test.after.always(async () => {
    for (const teardown of teardowns.toReversed()) await teardown();
  });
  const owner: Pick<ExecutionContext, "teardown"> = {
    teardown: (stop: () => unknown) => teardowns.push(stop),
  };
  // The helpers' parameter is a whole test, of which they use nothing else.
  return owner as ExecutionContext<unknown>;
}
