import type {
  ChatUsage,
  ChunkChoice,
  ChunkDelta,
  FinishReason,
  ReasoningDetail,
} from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import type { UsageDetails } from "../../wire/token-usage.ts";
import type { UpstreamEvent } from "../../wire/server-sent-events.ts";
import type { ChatStreamReader } from "../provider.ts";
import { reportedError } from "../../wire/reported-error.ts";
import { parseEvent } from "../../wire/parse-upstream.ts";
import type { ModelFamily } from "./model-family.ts";
import {
  readConverseDetails,
  readConverseUsage,
  readStopReason,
  readStopSequence,
} from "./read-converse-answer.ts";
import { formatOf } from "./reasoning-details.ts";

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html */
export class ConverseStreamReader implements ChatStreamReader {
  readonly #family: ModelFamily;
  /** The open tool calls, by block index. */
  readonly #openCalls = new Map<unknown, { index: number; hasArguments: boolean }>();
  #callCount = 0;
  /** The `contentBlockIndex` of the latest reasoning block. */
  #thoughtBlock: unknown = null;
  #thoughtIndex = -1;
  #usage: ChatUsage | null = null;
  #usageDetails: UsageDetails | undefined;
  #state: ChatStreamReader["state"] = "unfinished";

  constructor(family: ModelFamily) {
    this.#family = family;
  }

  get usage(): ChatUsage | null {
    return this.#usage;
  }

  get usageDetails(): UsageDetails | undefined {
    return this.#usageDetails;
  }

  get state(): ChatStreamReader["state"] {
    return this.#state;
  }

  read({ name, data }: UpstreamEvent): ChunkChoice[] {
    switch (name) {
      case "contentBlockStart":
        return this.#startBlock(parseEvent(data));
      case "contentBlockDelta":
        return this.#readDelta(parseEvent(data));
      case "contentBlockStop":
        return this.#endBlock(parseEvent(data));
      case "messageStop":
        return this.#finish(parseEvent(data));
      case "metadata":
        return this.#end(parseEvent(data));
      default:
        if (/(exception|error)$/i.test(name)) {
          throw reportedError({ ...parseEvent(data), __type: name }, "mid-stream");
        }
        return [];
    }
  }

  /** Omits calls of tools that Bedrock runs itself. */
  #startBlock({ contentBlockIndex: block, start }: Fields): ChunkChoice[] {
    const call = isObject(start) ? start["toolUse"] : null;
    if (!isObject(call) || call["type"] === "server_tool_use") return [];
    const { toolUseId: id, name } = call;
    if (typeof id !== "string" || typeof name !== "string") throw new Error("The tool call is malformed.");
    const index = this.#callCount++;
    this.#openCalls.set(block, { index, hasArguments: false });
    return says({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
  }

  #readDelta({ contentBlockIndex: block, delta }: Fields): ChunkChoice[] {
    if (!isObject(delta)) return [];
    const { text, toolUse, reasoningContent } = delta;
    if (isObject(reasoningContent)) return this.#readThought(block, reasoningContent);
    if (isObject(toolUse)) return this.#readArguments(block, toolUse["input"]);
    return typeof text === "string" && text !== "" ? says({ content: text }) : [];
  }

  #readArguments(block: unknown, json: unknown): ChunkChoice[] {
    const call = this.#openCalls.get(block);
    if (!call || typeof json !== "string" || json === "") return [];
    call.hasArguments = true;
    return says({ tool_calls: [{ index: call.index, function: { arguments: json } }] });
  }

  #readThought(block: unknown, { text, signature, redactedContent: data }: Fields): ChunkChoice[] {
    if (block !== this.#thoughtBlock) this.#thoughtIndex++;
    this.#thoughtBlock = block;
    if (typeof text === "string" && text !== "") {
      return says({
        reasoning_content: text,
        reasoning_details: [this.#detail("reasoning.text", { text })],
      });
    }
    if (typeof signature === "string") {
      return says({ reasoning_details: [this.#detail("reasoning.text", { signature })] });
    }
    if (typeof data !== "string") return [];
    return says({ reasoning_details: [this.#detail("reasoning.encrypted", { data })] });
  }

  #detail(type: ReasoningDetail["type"], piece: Partial<ReasoningDetail>): ReasoningDetail {
    return { type, format: formatOf(type, this.#family), index: this.#thoughtIndex, ...piece };
  }

  /** Sends `{}` for a call without arguments, because clients cannot parse an empty string. */
  #endBlock({ contentBlockIndex: block }: Fields): ChunkChoice[] {
    const call = this.#openCalls.get(block);
    this.#openCalls.delete(block);
    if (!call || call.hasArguments) return [];
    return says({ tool_calls: [{ index: call.index, function: { arguments: "{}" } }] });
  }

  #finish(stop: Fields): ChunkChoice[] {
    if (this.#state !== "unfinished") return [];
    const finishReason = readStopReason(stop["stopReason"], this.#callCount > 0);
    this.#state = "finished";
    return [{ index: 0, delta: {}, finish_reason: finishReason, ...readStopSequence(stop) }];
  }

  #end(metadata: Fields): ChunkChoice[] {
    this.#usage = readConverseUsage(metadata["usage"]) ?? this.#usage;
    this.#usageDetails = readConverseDetails(metadata);
    if (this.#state === "finished") this.#state = "ended";
    return [];
  }
}

type Fields = Record<string, unknown>;

function says(delta: ChunkDelta, finishReason: FinishReason | null = null): ChunkChoice[] {
  return [{ index: 0, delta, finish_reason: finishReason }];
}
