import test from "ava";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { selectTools } from "./coding-tools.ts";
import { shareToolUpstreams } from "./share-tool-upstreams.ts";
import { tryTool } from "./try-tool.ts";

const prepare = shareToolUpstreams(shareGateway());
// `npm run test:tools` sets the variable to the names of the tools that a registry refuses or that lack a Python.
const refused = new Set(process.env["TEST_TOOLS_REFUSED"]?.split(","));

for (const tool of selectTools({ isFast: process.env["TEST_TOOLS_FAST"] === "1" })) {
  const declare = refused.has(tool.name) ? test.serial.skip : test.serial;
  for (const [index, upstream] of tool.upstreams.entries()) {
    for (const model of upstream.models ?? [upstream.form.model]) {
      const title = `${tool.name} ${tool.version} on ${upstream.provider}/${model} (${upstream.form.kind})`;
      // Reading a file also covers a plain prompt, so only the first upstream has a test with a plain prompt.
      for (const isToolUsed of index === 0 ? [false, true] : [true]) {
        declare(`${title}: ${isToolUsed ? "a file read by a tool" : "a plain prompt"}`, async (t) => {
          t.timeout(400_000);
          await tryTool(t, { tool, connection: await prepare(upstream), model, isToolUsed });
        });
      }
    }
  }
}
