import fc from "fast-check";
import { anyOf } from "../../providers/hostile-json.ts";

/** Arbitrary JSON with many names and values that the Messages dialect interprets. */
export const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      0,
      1,
      "",
      "text",
      "x-anthropic-billing-header: a",
      "gateway-thought-v1.e30",
      "toolu_gateway_%",
    ),
    anyOf("image base64 url tool_use tool_result thinking redacted_thinking json_schema bash_20250124"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      anyOf(
        "type text source data media_type url content id name input tool_use_id thinking signature cache_control title context tool definition input_schema description budget_tokens format schema effort user_id is_error properties required __proto__",
      ),
      tie("value"),
      { maxKeys: 6 },
    ),
  ),
})).value;

const anyBlocks = fc.array(
  fc.record(
    {
      type: anyOf(
        "text image document thinking redacted_thinking tool_use tool_result search_result web_search_tool_result bash_code_execution_tool_result tool_addition x",
      ),
      text: anyJson,
      source: anyJson,
      content: anyJson,
      thinking: anyJson,
      signature: anyJson,
      data: anyJson,
      id: anyJson,
      name: anyJson,
      input: anyJson,
      tool_use_id: anyJson,
      cache_control: anyJson,
      is_error: anyJson,
      tool: anyJson,
    },
    { requiredKeys: ["type"] },
  ),
  { maxLength: 4 },
);

export const anyBody = fc.record(
  {
    messages: fc.array(
      fc.record({
        role: fc.constantFrom("user", "assistant", "system"),
        content: fc.oneof(fc.string(), anyBlocks, fc.array(anyJson)),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    system: fc.oneof(fc.string(), anyBlocks, fc.array(anyJson)),
    tools: fc.array(
      fc.oneof(
        anyJson,
        fc.record({
          type: fc.constantFrom("custom", "bash_20250124", "x"),
          name: anyJson,
          input_schema: anyJson,
        }),
      ),
    ),
    tool_choice: fc.dictionary(
      fc.constantFrom("type", "name", "disable_parallel_tool_use"),
      fc.oneof(anyJson, fc.constantFrom("auto", "any", "tool", "none")),
    ),
    thinking: fc.dictionary(
      fc.constantFrom("type", "budget_tokens"),
      fc.oneof(anyJson, fc.constantFrom("enabled", "adaptive", "disabled")),
    ),
    output_config: fc.dictionary(fc.constantFrom("effort", "format"), anyJson),
    output_format: anyJson,
    metadata: fc.dictionary(fc.constant("user_id"), anyJson),
    stop_sequences: fc.array(anyJson),
    max_tokens: fc.constantFrom(0, 1, 100),
    cache_control: anyJson,
  },
  { requiredKeys: ["messages"] },
);

/** The message of a complete response, or the delta of a chunk. */
export const anyPiece = fc.record(
  {
    content: fc.oneof(anyJson, fc.string()),
    refusal: fc.oneof(anyJson, fc.string()),
    reasoning_content: fc.oneof(anyJson, fc.string()),
    reasoning_details: fc.array(
      fc.oneof(
        anyJson,
        fc.record(
          {
            type: fc.constantFrom("reasoning.text", "reasoning.encrypted", "reasoning.summary"),
            format: fc.constantFrom("anthropic-claude-v1", "x"),
            index: anyJson,
            text: anyJson,
            signature: anyJson,
            data: anyJson,
          },
          { requiredKeys: ["type"] },
        ),
      ),
      { maxLength: 3 },
    ),
    tool_calls: fc.array(
      fc.oneof(
        anyJson,
        fc.record({
          index: fc.constantFrom(0, 1, 2),
          id: fc.constantFrom("a", "b", ""),
          function: fc.record({
            name: fc.constantFrom("f", ""),
            arguments: fc.constantFrom("", "{", "}", '{"a":1}', '"', "x"),
          }),
        }),
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
);
