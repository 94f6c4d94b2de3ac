import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { queryDatabase } from "../helpers/query-database.ts";
import { answerParent, cpuMicroseconds } from "./measured-process.ts";
import { type OwnGateway, startOwnGateway } from "./own-gateway.ts";
import { createUndiciCall } from "./undici-call.ts";

let gateway: OwnGateway | undefined;
/** The number of requests that ended while usage records were off. */
let left = 0;
const profiler = new Session();
const samplingIntervalUs = 200;
const undiciCall = createUndiciCall();

const answers = {
  async start(upstreamPort: number) {
    gateway = await startOwnGateway({
      UPSTREAM_PRIVATE_HOSTS: `127.0.0.1:${upstreamPort}`,
      LOG_LEVEL: "warn",
    });
    return { url: gateway.url, setUpToken: gateway.services.accounts.setUpToken };
  },

  /** Flushes first, so that the CPU time includes writing the usage records. */
  async cpu() {
    await gateway?.services.recorder.flush();
    return cpuMicroseconds();
  },

  /** Turns usage records on or off, to measure their cost. */
  keepRecords(areKept: boolean) {
    if (!gateway) return;
    const { recorder } = gateway.services;
    if (areKept) {
      Reflect.deleteProperty(recorder, "start");
      Reflect.deleteProperty(recorder, "record");
      return;
    }
    const started = { toRecord: null, slot: null };
    recorder.start = () => started;
    recorder.record = (_record, _started, proceed) => {
      left++;
      proceed();
    };
  },

  useUndici(isUsed: boolean) {
    if (!gateway) return;
    const { upstreams } = gateway.services;
    if (isUsed) upstreams.call = undiciCall;
    else Reflect.deleteProperty(upstreams, "call");
  },

  /** `--cpu-prof` would include the startup and all cases. */
  async startProfile() {
    profiler.connect();
    await profiler.post("Profiler.enable");
    await profiler.post("Profiler.setSamplingInterval", { interval: samplingIntervalUs });
    await profiler.post("Profiler.start");
  },

  /** Writes a `.cpuprofile` for Chrome's developer tools, VS Code or speedscope. */
  async stopProfile(file: string) {
    const { profile } = await profiler.post("Profiler.stop");
    profiler.disconnect();
    writeFileSync(file, JSON.stringify(profile));
  },

  async stopAndCount() {
    await gateway?.close();
    const [counts] = await queryDatabase(
      `sqlite:${gateway?.databaseFile}`,
      `SELECT count(*) AS records, coalesce(sum(status = 'SUCCEEDED' AND http_status = 200), 0) AS succeeded,
              coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens
       FROM usage_records`,
    );
    return { left, counts: counts as RecordCounts };
  },
};

export type RecordCounts = { records: number; succeeded: number; inputTokens: number; outputTokens: number };
export type GatewayProcess = typeof answers;

answerParent(answers);
