import { setTimeout as wait } from "node:timers/promises";
import type { ExecutionContext } from "ava";
import {
  beginStream,
  chunkEvent,
  createUpstream,
  doneEvent,
  type ScriptedUpstream,
  sendCompletion,
  usageEvent,
} from "../helpers/scripted-upstream.ts";

export function createModelUpstream(t: ExecutionContext): Promise<ScriptedUpstream> {
  return createUpstream(t, async ({ body }, response) => {
    if (!body.includes('"stream":true')) {
      await wait(10);
      return sendCompletion(response);
    }
    beginStream(response);
    for (const word of ["One", " two", " three"]) {
      response.write(chunkEvent(word));
      await wait(5);
    }
    response.end(usageEvent + doneEvent);
  });
}
