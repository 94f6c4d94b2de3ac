import OpenAI from "openai";
import test from "ava";
import { weatherTool } from "../helpers/responses-client.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { connectWeather, createWeatherUpstream } from "../helpers/weather-upstream.ts";

const gateway = shareGateway();

test("OpenAI's SDK continues, reads, lists and deletes responses", async (t) => {
  const models = await connectWeather(gateway(), await createWeatherUpstream(t));
  const { value } = await createKey(gateway(), models);
  const { responses } = new OpenAI({ baseURL: `${gateway().url}/v1`, apiKey: value, maxRetries: 0 });
  for (const model of models) {
    const tools = [{ ...weatherTool, type: "function" as const, strict: false }];
    const first = await responses.create({ model, input: "The weather in Paris?", tools });
    const call = first.output.find((item) => item.type === "function_call");
    const result = {
      type: "function_call_output" as const,
      call_id: call?.call_id ?? "",
      output: "22 degrees",
    };
    const second = await responses.create({ model, previous_response_id: first.id, input: [result], tools });
    t.is(second.output_text, "It is sunny.");
    const stream = responses.stream({ model, previous_response_id: second.id, input: "Sure?" });
    const third = await stream.finalResponse();
    t.is(third.previous_response_id, second.id);

    const read = await responses.retrieve(third.id);
    t.is(read.output_text, "It is sunny.");
    const types: string[] = [];
    for await (const item of responses.inputItems.list(third.id, { order: "asc", limit: 2 }))
      types.push(item.type);
    t.deepEqual(
      types.filter((type) => type !== "reasoning"),
      ["message", "message", "function_call", "function_call_output", "message", "message"],
    );
    await responses.delete(third.id);
    const { status, code } = await t.throwsAsync(responses.retrieve(third.id), {
      instanceOf: OpenAI.NotFoundError,
    });
    t.deepEqual([status, code], [404, null]);
    const late = responses.create({ model, previous_response_id: third.id, input: "Sure?" });
    await t.throwsAsync(late, {
      instanceOf: OpenAI.BadRequestError,
      message: /Previous response with id .* not found/,
    });
  }
});
