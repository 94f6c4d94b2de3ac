import { chatRequestSchema } from "../../dialects/chat/read-chat-request.ts";
import { embeddingsRequestSchema } from "../../dialects/embeddings/read-embeddings-request.ts";
import { countRequestSchema, messagesRequestSchema } from "../../dialects/messages/read-messages-request.ts";
import type { JsonSchema } from "../../dialects/parameter-checks.ts";
import type { RequestSchema } from "../../dialects/request-schema.ts";
import { responsesRequestSchema } from "../../dialects/responses/read-responses-request.ts";

const model = "The slug of a model that the key is connected to, such as `demo/echo`.";
const stream = "Whether the answer comes as server-sent events, as it is made.";
const tools = "What the model may call.";

const messageOptions = {
  model,
  messages:
    "The conversation so far; each has a `role` and `content`: a text, or blocks such as text, images and tool results.",
  stream,
  temperature: "How freely the next word is chosen.",
  top_p: "How likely words must be, taken together, to be thought of.",
  top_k: "How many of the likeliest words are thought of.",
  stop_sequences: "Texts that end the answer.",
  system: "What the model is told before the conversation.",
  tools,
  tool_choice: "Whether it may, must or must not call one.",
  thinking: "Whether, and how much, it may think.",
  output_config: "Such as `effort`, and the `format` that the answer must have.",
  metadata: "Such as `user_id`.",
};

/** A parameter without a line here fails to compile. */
export const requestSchemas = {
  ChatCompletionRequest: describe(
    chatRequestSchema,
    "https://platform.openai.com/docs/api-reference/chat/create",
    {
      model,
      messages:
        "The conversation so far; `content` is a text, or parts such as text, images, audio and files.",
      stream,
      stream_options: "With `include_usage`, a stream ends with a chunk that has the token counts.",
      temperature: "How freely the next word is chosen.",
      top_p: "How likely words must be, taken together, to be thought of.",
      frequency_penalty: "How much words are shunned for each time that they were used.",
      presence_penalty: "How much words are shunned that were used at all.",
      max_tokens: "The older name of `max_completion_tokens`.",
      max_completion_tokens: "The most that may be made, thoughts included.",
      n: "How many answers are wanted.",
      tools,
    },
  ),
  EmbeddingsRequest: describe(
    embeddingsRequestSchema,
    "https://platform.openai.com/docs/api-reference/embeddings/create",
    {
      model,
      input: "One text or several, each also as a list of token numbers.",
      encoding_format: "`base64` is what OpenAI's SDKs ask for by themselves.",
      dimensions: "How long each vector is to be.",
    },
  ),
  MessagesRequest: describe(
    messagesRequestSchema,
    "https://platform.claude.com/docs/en/api/messages/create",
    {
      ...messageOptions,
      max_tokens: "The most that may be made.",
    },
  ),
  CountTokensRequest: describe(
    countRequestSchema,
    "https://platform.claude.com/docs/en/api/messages/count_tokens",
    {
      ...messageOptions,
      max_tokens: "Taken, and of no consequence.",
    },
  ),
  ResponsesRequest: describe(
    responsesRequestSchema,
    "https://platform.openai.com/docs/api-reference/responses/create",
    {
      model,
      input:
        "A text, or items such as messages, calls and their results. It may be missing where `prompt`, `conversation` or `previous_response_id` stands.",
      stream,
      stream_options: "How the stream is to be.",
      store: "Only OpenAI itself keeps responses; for everyone else this has no effect.",
      background: "Only OpenAI itself answers later.",
      instructions: "What the model is told before the input.",
      previous_response_id: "A response that OpenAI itself has kept.",
      conversation: "A conversation that OpenAI itself has kept.",
      prompt: "A prompt that OpenAI itself has kept.",
      tools,
      tool_choice: "Whether it may, must or must not call one.",
      parallel_tool_calls: "Whether it may make several calls at once.",
      max_tool_calls: "How many calls of built-in tools it may make.",
      reasoning: "How much it may think (`effort`), and whether it tells (`summary`).",
      text: "The `format` that the answer must have, and its `verbosity`.",
      temperature: "How freely the next word is chosen.",
      top_p: "How likely words must be, taken together, to be thought of.",
      top_logprobs: "How many of the likeliest words are told at each place.",
      max_output_tokens: "The most that may be made, thoughts included.",
      truncation: "What becomes of an input that is too long.",
      include: "What else the answer is to have, such as `reasoning.encrypted_content`.",
      metadata: "Texts by name, which the answer repeats.",
      user: "The older name of `safety_identifier`.",
      safety_identifier: "Who of your users asks, in words that do not tell who it is.",
      prompt_cache_key: "What requests that begin alike have in common.",
      service_tier: "How fast, and at which price.",
    },
  ),
};

function describe<Name extends string>(
  schema: RequestSchema<Name>,
  origin: string,
  descriptions: Record<Name, string>,
): JsonSchema {
  const properties = Object.entries<JsonSchema>(schema.properties).map(([name, property]) => [
    name,
    { ...property, description: descriptions[name as Name] },
  ]);
  return { ...schema, properties: Object.fromEntries(properties), externalDocs: { url: origin } };
}
