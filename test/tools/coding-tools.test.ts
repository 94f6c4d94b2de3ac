import test from "ava";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { codingTools } from "./coding-tools.ts";
import { shareToolUpstreams } from "./share-tool-upstreams.ts";
import { tryTool } from "./try-tool.ts";

const prepare = shareToolUpstreams(shareGateway());
// Those that npm does not give here, by `npm run test:tools`, which tries to install them all first.
const refused = new Set(process.env.TEST_TOOLS_REFUSED?.split(","));

for (const tool of codingTools) {
  const declare = refused.has(tool.name) ? test.skip : test.serial;
  for (const upstream of tool.upstreams) {
    const title = `${tool.name} ${tool.version} on ${upstream.provider} (${upstream.form.kind})`;
    for (const isToolUsed of [false, true]) {
      declare(`${title}: ${isToolUsed ? "a file that its tool reads" : "a plain prompt"}`, async (t) => {
        t.timeout(400_000);
        await tryTool(t, { tool, connection: await prepare(upstream), isToolUsed });
      });
    }
  }
}
