import test from "ava";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { codingTools } from "./coding-tools.ts";
import { shareToolUpstreams } from "./share-tool-upstreams.ts";
import { tryTool } from "./try-tool.ts";

const prepare = shareToolUpstreams(shareGateway());
// Those that npm does not give here, by `npm run test:tools`, which tries to install them all first.
const refused = new Set(process.env["TEST_TOOLS_REFUSED"]?.split(","));

for (const tool of codingTools) {
  const declare = refused.has(tool.name) ? test.serial.skip : test.serial;
  for (const [index, upstream] of tool.upstreams.entries()) {
    const title = `${tool.name} ${tool.version} on ${upstream.provider} (${upstream.form.kind})`;
    // The way to a file and back has a plain prompt's whole way in it.
    for (const isToolUsed of index === 0 ? [false, true] : [true]) {
      declare(`${title}: ${isToolUsed ? "a file that its tool reads" : "a plain prompt"}`, async (t) => {
        t.timeout(400_000);
        await tryTool(t, { tool, connection: await prepare(upstream), isToolUsed });
      });
    }
  }
}
