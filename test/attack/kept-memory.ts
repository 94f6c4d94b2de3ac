import { MemoryStore } from "../../gateway/kept-responses/memory-store.ts";
import { formatItems } from "../../gateway/wire/json-items.ts";
import { answerParent } from "../bench/measured-process.ts";

const store = new MemoryStore({ now: Date.now, keptMs: 1e9, bytesMax: Infinity, keyBytesMax: Infinity });

const answers = {
  /** Keeps small responses. Returns the counted bytes and the growth of the process's memory. */
  keep(count: number): { countedBytes: number; residentBytes: number } {
    const before = process.memoryUsage.rss();
    const countedBefore = store.bytes;
    for (let index = 0; index < count; index++) {
      const id = `resp_${String(countedBefore + index).padStart(26, "0")}`;
      const input = formatItems([{ role: "user", content: "x".repeat(200) }]);
      const output = formatItems([{ role: "assistant", content: "y".repeat(200), index }]);
      const response = Buffer.from(JSON.stringify({ id, output: "z".repeat(1_000) }));
      store.keep("key_1", id, { response, input, output, tokens: 1 });
    }
    const residentBytes = process.memoryUsage.rss() - before;
    return { countedBytes: store.bytes - countedBefore, residentBytes };
  },
};

export type KeptMemory = typeof answers;

answerParent(answers);
