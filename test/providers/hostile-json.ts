import fc from "fast-check";
import type { ChatMessage, ChatRequestBody } from "../../gateway/wire/chat-completion.ts";

export function jsonOf(words: string): fc.Arbitrary<unknown> {
  const word = anyOf(words);
  return fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      word,
      fc.constantFrom(...oddValues),
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(word, tie("value"), { maxKeys: 6 }),
    ),
  })).value;
}

const oddValues = [null, true, false, 0, 1, -1, 0.5, 1e300, "", " ", "{}", "{", "[1]", '{"a":1}'].concat(
  ["data:,%", "data:a;base64,AA==", "data:image/png;base64,AA==", "data:constructor;base64,AA=="],
  "https://a/b.png",
);

/** One of the words that spaces separate. */
export function anyOf(words: string): fc.Arbitrary<string> {
  return fc.constantFrom(...words.split(" "));
}

export function requestsOf(words: string, parameters: string): fc.Arbitrary<ChatRequestBody> {
  const json = jsonOf(words);
  const message = fc.oneof({ weight: 3, arbitrary: plainMessages(json) }, hostileMessages(words, json));
  return fc
    .tuple(
      fc.array(message, { minLength: 1, maxLength: 4 }),
      fc.dictionary(anyOf(parameters), json, { maxKeys: 2 }),
      fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.array(json, { maxLength: 2 })),
    )
    .map(([messages, rest, tools]) => ({ model: "m", messages, ...rest, tools }) as ChatRequestBody);
}

function plainMessages(json: fc.Arbitrary<unknown>): fc.Arbitrary<ChatMessage> {
  return fc.record({
    role: fc.constantFrom("system" as const, "user" as const, "assistant" as const),
    content: fc.string(),
    reasoning_details: json,
  });
}

function hostileMessages(words: string, json: fc.Arbitrary<unknown>): fc.Arbitrary<ChatMessage> {
  const part = fc
    .tuple(fc.dictionary(anyOf(words), json, { maxKeys: 4 }), fc.constantFrom(...partTypes))
    .map(([fields, type]) => ({ ...fields, type }));
  const call = fc.record({ id: fc.constant("a"), function: json });
  return fc.record(
    {
      role: fc.constantFrom("system", "developer", "user", "assistant", "tool", "function"),
      content: fc.oneof(fc.string(), fc.constant(null), fc.array(fc.oneof(part, json), { maxLength: 3 })),
      name: json,
      tool_call_id: fc.oneof(fc.string(), fc.constant("a"), json),
      tool_calls: fc.oneof(fc.array(fc.oneof(call, json), { maxLength: 2 }), json),
      reasoning_details: fc.oneof(fc.array(json, { maxLength: 3 }), json),
      refusal: json,
      audio: json,
      function_call: json,
      cache_control: json,
    },
    { requiredKeys: ["role"] },
  ) as fc.Arbitrary<ChatMessage>;
}

const partTypes = ["text", "image_url", "video_url", "file", "refusal", "input_audio", "hologram"];

/** Returns null for an expected error. A `TypeError` or `RangeError` is a bug, so it is rethrown. */
export function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) throw error;
    return null;
  }
}
