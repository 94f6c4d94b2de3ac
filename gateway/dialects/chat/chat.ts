import { readChatUsage } from "../../wire/token-usage.ts";
import type { Dialect, ShownError, DialectRequest, AnswerEnvelope, StreamWriter } from "../dialect.ts";
import {
  type ChatRequestBody,
  chatRoles,
  type ChatQuirks,
  applyQuirks,
  convertsNone,
  countFinished,
  type ChatUsage,
  type ChunkChoice,
} from "../../wire/chat-completion.ts";
import { isObject, isKey, type VisitMember } from "../../wire/json.ts";
import { invalidType } from "../../wire/parameter-errors.ts";
import {
  refuseOtherModels,
  RequestMembers,
  requestMembers,
  aBoolean,
  anObject,
  aString,
  checkOptional,
  checkRequired,
  integerFrom,
  messagesWith,
  numberBetween,
  objects,
  type BodyLimits,
  type ByteRange,
  OutlinedRequest,
  outlineModelBody,
  requestSchema,
} from "../parse-body.ts";
import { applyEdits, type Edit, splitByEdits } from "../../wire/bytes.ts";
import { badAnswer, withoutChoices } from "../../wire/bad-answer.ts";
import { ChunkRewriter } from "./chunk-rewriter.ts";
import { scanAnswer } from "../../wire/scan-answer.ts";
import type { UpstreamModel } from "../../providers/provider.ts";

/** OpenAI's chat completions, the format for all translations. https://platform.openai.com/docs/api-reference/chat */
export const chat: Dialect<ChatRequest> = {
  endpointName: "chat/completions",
  readRequest: readChatRequest,
  droppedIn: () => null,
  clientParams: {},
  toChatRequest: ({ body }) => body,
  formatAnswer: ({ choices, usage }, { id, createdSeconds, slug }) => ({
    id: `chatcmpl-${id}`,
    object: "chat.completion",
    created: createdSeconds,
    model: slug,
    // OpenAI's format has no member for the matched stop sequence.
    choices: choices.map(({ stop_sequence: _, ...choice }) => choice),
    ...(usage !== null && { usage }),
  }),
  createStreamWriter: (envelope, { includeUsage }) => new ChatStreamWriter(envelope, includeUsage),
  native: {
    forwardedHeaders: null,
    buildRequest(request, model, quirks) {
      if (quirks === null) throw new Error("The quirks of the chat completions upstream are missing.");
      return spliceRequest(request, model, quirks);
    },
    readAnswer(bytes, slug) {
      const answer = scanAnswer(bytes, { start: 0, end: bytes.length }, { slug, listName: "choices" });
      if (!answer?.list) throw badAnswer("not in OpenAI's format");
      if (answer.isEmpty) throw withoutChoices();
      countFinished(bytes.toString("latin1", answer.list.start, answer.list.end));
      return {
        bytes: applyEdits(bytes, answer.edits),
        usage: readChatUsage(answer.usage, answer.serviceTier),
      };
    },
    // OpenAI-compatible upstreams use several names for reasoning.
    outputNames: () => /"(?:content|reasoning_content|reasoning|refusal|arguments)"\s*:\s*"/g,
    createReader({ includeUsage, outline: { n } }, slug, meter) {
      const choicesMin = typeof n === "number" ? n : 1;
      return new ChunkRewriter({ slug, includeUsage, choicesMin, meter });
    },
  },
  formatError,
  formatErrorEvent: (error) => `data: ${JSON.stringify(formatError(error))}\n\n`,
};

function formatError({ message, type, param, code }: ShownError): object {
  return { error: { message, type, param, code } };
}

type ChatRequest = DialectRequest & {
  readonly body: ChatRequestBody;
  outline: ChatRequestBody;
  /** Null if a known member occurs twice. */
  layout: ChatRequestLayout | null;
  includeUsage: boolean;
};

type ChatRequestLayout = {
  model: ByteRange;
  streamOptions: ByteRange | null;
  /** The position of the key `max_completion_tokens`, without its quotes. */
  maxCompletionTokensKey: ByteRange | null;
};

export function readChatRequest(bytes: Buffer, limits: BodyLimits): ChatRequest {
  let streamOptions: ByteRange | null = null;
  let maxCompletionTokensKey: ByteRange | null = null;
  const visit: VisitMember = (keyStart, keyEnd, start, end) => {
    if (isKey(bytes, keyStart, keyEnd, "stream_options")) streamOptions = { start, end };
    else if (isKey(bytes, keyStart, keyEnd, "max_completion_tokens"))
      maxCompletionTokensKey = { start: keyStart, end: keyEnd };
  };
  const { outline: body, parseWhole, modelRange } = outlineModelBody(bytes, limits, chatMembers, visit);
  checkRequired(body, requiredParameters);
  checkOptional(body, optionalParameters);
  refuseOtherModels(body);
  const outline = body as ChatRequestBody;
  const { stream_options: options } = outline;
  // An upstream that ignores case could read another spelling of `include_usage` and omit the usage.
  if (options) streamOptionsMembers.checkKeys(options, Object.keys(options));
  const request = new OutlinedRequest({ bytes, outline, parseWhole, modelRange });
  return Object.assign(request, {
    layout: modelRange && { model: modelRange, streamOptions, maxCompletionTokensKey },
    includeUsage: request.stream && options?.include_usage === true,
  });
}

const messageSchema = {
  type: "object",
  required: ["role"],
  properties: {
    role: { enum: chatRoles },
    // Some upstreams, such as vLLM, accept strings among the parts.
    content: { type: ["string", "array", "null"], items: { type: ["string", "object"] } },
  },
};

const someMessages = messagesWith(messageSchema, chatRoles, ({ content }, index) => {
  if (typeof content === "string" || content === undefined || content === null) return;
  const param = `messages[${index}].content`;
  if (!Array.isArray(content)) throw invalidType(param, "a string or an array of content parts", content);
  const odd = content.findIndex((part) => typeof part !== "string" && !isObject(part));
  if (odd !== -1) throw invalidType(`${param}[${odd}]`, "an object", content[odd]);
});

const requiredParameters = [
  ["model", aString],
  ["messages", someMessages],
] as const;

const optionalParameters = [
  ["stream", aBoolean],
  ["stream_options", anObject],
  ["temperature", numberBetween(0, 2)],
  ["top_p", numberBetween(0, 1)],
  ["frequency_penalty", numberBetween(-2, 2)],
  ["presence_penalty", numberBetween(-2, 2)],
  ["max_tokens", integerFrom(1)],
  ["max_completion_tokens", integerFrom(1)],
  ["n", integerFrom(1)],
  ["tools", objects],
] as const;

const chatMembers = requestMembers(requiredParameters, optionalParameters);
const streamOptionsMembers = new RequestMembers(["include_usage"], []);

export const chatRequestSchema = requestSchema(requiredParameters, optionalParameters);

/**
 * Sets the upstream's model name and requests the usage chunk of a stream. Splicing the bytes keeps large
 * integers as the client wrote them.
 */
export function spliceRequest(request: ChatRequest, { name }: UpstreamModel, quirks: ChatQuirks): Buffer[] {
  const { bytes, layout, outline } = request;
  const addsUsage = request.stream && !request.includeUsage;
  // The options come from the body, because the outline has placeholders for long texts.
  const withUsage = () => ({
    ...(outline.stream_options && request.body.stream_options),
    include_usage: true,
  });
  // Parsers may disagree about a duplicate member, so the upstream receives only the checked value.
  if (layout === null || changesBody(outline, quirks)) {
    const body = { ...applyQuirks(request.body, quirks), model: name };
    return [Buffer.from(JSON.stringify(addsUsage ? { ...body, stream_options: withUsage() } : body))];
  }

  const { model, streamOptions, maxCompletionTokensKey } = layout;
  const edits: Edit[] = [{ ...model, text: JSON.stringify(name) }];
  if (maxCompletionTokensKey && quirks.maxTokensName !== "max_completion_tokens") {
    edits.push({ ...maxCompletionTokensKey, text: quirks.maxTokensName });
  }
  if (addsUsage) {
    if (streamOptions) edits.push({ ...streamOptions, text: JSON.stringify(withUsage()) });
    else {
      const first = bytes.indexOf("{") + 1;
      edits.push({ start: first, end: first, text: '"stream_options":{"include_usage":true},' });
    }
  }
  edits.sort((left, right) => left.start - right.start);
  return splitByEdits(bytes, edits);
}

/** Whether the quirks change more than the name of one member. */
function changesBody(body: ChatRequestBody, quirks: ChatQuirks): boolean {
  const { developerRole, maxTokensName } = quirks;
  return (
    convertsNone(body, quirks) ||
    (developerRole !== "developer" && body.messages.some(({ role }) => role === "developer")) ||
    // Renaming one limit must not create a duplicate of the other.
    (maxTokensName === "max_tokens" &&
      body["max_tokens"] !== undefined &&
      body["max_completion_tokens"] !== undefined)
  );
}

class ChatStreamWriter implements StreamWriter {
  readonly #includeUsage: boolean;
  readonly #head: string;
  /** The end of a chunk, after its choice. With usage requested, OpenAI sends `"usage": null` until it arrives. */
  readonly #tail: string;
  /** The indexes of the choices whose role has been written. */
  readonly #begun = new Set<number>();

  constructor({ id, createdSeconds, slug }: AnswerEnvelope, includeUsage: boolean) {
    const identity = { id: `chatcmpl-${id}`, object: "chat.completion.chunk", created: createdSeconds };
    this.#includeUsage = includeUsage;
    this.#head = `data: ${JSON.stringify({ ...identity, model: slug }).slice(0, -1)},"choices":[`;
    this.#tail = `]${includeUsage ? ',"usage":null' : ""}}\n\n`;
  }

  write(choice: ChunkChoice): string {
    return `${this.#head}${JSON.stringify(this.#withRole(choice))}${this.#tail}`;
  }

  finish(usage: Partial<ChatUsage> | null): string {
    const sendsUsage = this.#includeUsage && usage !== null;
    return `${sendsUsage ? `${this.#head}],"usage":${JSON.stringify(usage)}}\n\n` : ""}data: [DONE]\n\n`;
  }

  #withRole({ index, delta, logprobs = null, finish_reason }: ChunkChoice): ChunkChoice {
    if (this.#begun.has(index)) return { index, delta, logprobs, finish_reason };
    this.#begun.add(index);
    return { index, delta: { role: "assistant", ...delta }, logprobs, finish_reason };
  }
}
