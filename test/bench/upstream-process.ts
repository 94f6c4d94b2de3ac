import { createCannedUpstream } from "./canned-upstreams.ts";
import { answerParent, thisProcess } from "./measured-process.ts";

/** The upstream of the gateway and the bare proxy. */
const answers = { start: async () => (await createCannedUpstream(thisProcess)).port };
export type UpstreamProcess = typeof answers;

answerParent(answers);
