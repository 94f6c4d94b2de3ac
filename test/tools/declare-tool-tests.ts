import test from "ava";
import { shareGateway } from "../helpers/shared-by-file.ts";
import type { CodingTool } from "./coding-tool.ts";
import { shareToolUpstreams } from "./share-tool-upstreams.ts";
import { tryTool } from "./try-tool.ts";

/** What is tried with each tool, in a file of its own so that two tools are tried at a time. */
export function declareToolTests(tool: CodingTool): void {
  const prepare = shareToolUpstreams(shareGateway());
  // Those that npm does not give here, by `npm run test:tools`, which tries to install them all first.
  const refused = new Set(process.env["TEST_TOOLS_REFUSED"]?.split(","));
  const declare = refused.has(tool.name) ? test.skip : test.serial;
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
