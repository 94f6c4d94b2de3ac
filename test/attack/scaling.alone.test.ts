import test from "ava";
import { providerKindNames } from "../../gateway/providers/registry.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { measureGrowth } from "./measure-growth.ts";
import { type RequestPipeline, requestPipelines } from "./request-pipelines.ts";
import { chatShapes } from "./shapes/chat-shapes.ts";
import { embeddingsShapes } from "./shapes/embeddings-shapes.ts";
import { messagesShapes } from "./shapes/messages-shapes.ts";
import { responsesShapes } from "./shapes/responses-shapes.ts";
import { countFor, type Shape, toBytes } from "./shapes/shape.ts";

const shapes = [...chatShapes, ...messagesShapes, ...responsesShapes, ...embeddingsShapes];

const largeBytes = isFull ? 2 * 1024 * 1024 : 384 * 1024;

test.serial("every kind of body takes linear time with every kind of provider", async (t) => {
  t.timeout(900_000);
  const slow: string[] = [];
  let pairs = 0;
  for (const [place, shape] of shapes.entries()) {
    const count = countFor(shape, largeBytes);
    const bodies = bodiesOf(shape, count);
    for (const pipeline of requestPipelines) {
      if (!shape.dialects.includes(pipeline.dialect) || !isTried(pipeline, place)) continue;
      const { run } = pipeline;
      const measure = ({ small, large }: Bodies) =>
        measureGrowth(
          () => run(small),
          () => run(large),
        );
      // A full processor cache can slow down one measurement, but superlinear code slows down both.
      const ratio = (await measure(bodies)) && (await measure(bodiesOf(shape, 4 * count)));
      pairs++;
      if (ratio > 0)
        slow.push(`${pipeline.dialect}, ${shape.name}, ${pipeline.kind}: ${ratio.toFixed(1)} times`);
    }
  }
  t.log(figures("scaling", { pairs, slow: slow.length }));
  t.deepEqual(slow, []);
  t.true(pairs >= 150);
});

type Bodies = { small: Buffer; large: Buffer };

function bodiesOf(shape: Shape, count: number): Bodies {
  return { small: toBytes(shape.body(Math.floor(count / 4))), large: toBytes(shape.body(count)) };
}

/** Below full scale, each shape runs on every third kind of provider, and the next shape on other kinds. */
function isTried({ kind }: RequestPipeline, place: number): boolean {
  return isFull || (providerKindNames.indexOf(kind) - place) % 3 === 0;
}
