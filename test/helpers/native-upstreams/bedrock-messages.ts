import { addPart, type Turn } from "./native-upstream.ts";
import { openSeal } from "./thought-seal.ts";
import { asFields, asList, asText, demand, type Fields, onlyKnown } from "./vendor-refusal.ts";

/**
 * Converts the messages of a Converse request to turns. Throws if their order or a block is invalid.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html
 */
export function readConverseMessages(messages: unknown): Turn[] {
  const turns: Turn[] = [];
  const callIds: string[] = [];
  let open: string[] = [];
  for (const [at, each] of asList(messages, "messages").entries()) {
    const { role, content, ...rest } = asFields(each, `messages.${at}`);
    onlyKnown(rest, "", extraneous);
    demand(
      role === "user" || role === "assistant",
      `Value '${String(role)}' at 'messages.${at}.role' failed`,
    );
    demand(
      role === (at % 2 === 0 ? "user" : "assistant"),
      at === 0
        ? "A conversation must start with a user message. Try again with a conversation that starts with a user message."
        : "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
    );
    const blocks = asList(content, "content").map((block) => asFields(block, "content"));
    demand(blocks.length > 0, `The content field in the Message object at messages.${at} is empty.`);
    checkResults(blocks, open, at);
    for (const [index, block] of blocks.entries()) {
      readBlock(block, { role, turns, callIds, where: `messages.${at}.content.${index}` });
    }
    open = idsOf(blocks, "toolUse");
  }
  demand(open.length === 0, expected(turns.length, open));
  return turns;
}

/** Throws unless the blocks contain exactly the results of the open calls. */
function checkResults(blocks: Fields[], open: string[], at: number): void {
  const found = idsOf(blocks, "toolResult");
  const missing = open.filter((id) => !found.includes(id));
  demand(missing.length === 0, expected(at, missing));
  demand(
    found.length === open.length,
    `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`,
  );
}

function expected(at: number, ids: string[]): string {
  return `Expected toolResult blocks at messages.${at}.content for the following Ids: ${ids.join(", ")}`;
}

function idsOf(blocks: Fields[], kind: "toolUse" | "toolResult"): string[] {
  return blocks.flatMap((block) =>
    block[kind] === undefined ? [] : [asText(asFields(block[kind], kind)["toolUseId"], "toolUseId")],
  );
}

type Place = { role: Turn["role"]; turns: Turn[]; callIds: string[]; where: string };

function readBlock(block: Fields, place: Place): void {
  const [kind = "", ...others] = Object.keys(block);
  demand(
    others.length === 0 && Object.hasOwn(blockReaders, kind),
    `The content block at ${place.where} has to have exactly one of the known members: ${kind} ${others.join(" ")}`,
  );
  blockReaders[kind]?.(block[kind], place);
}

const blockReaders: Record<string, (content: unknown, place: Place) => void> = {
  text(content, { role, turns, where }) {
    const text = asText(content, where);
    demand(
      text.trim() !== "",
      `The text field in the ContentBlock object at ${where} is blank. Add text to the text field, and try again.`,
    );
    addPart(turns, role, { text });
  },

  image(content, { role, turns, where }) {
    const { format, source, ...rest } = asFields(content, where);
    onlyKnown(rest, "", extraneous);
    demand(
      /^(png|jpeg|gif|webp)$/.test(String(format)),
      `Value '${String(format)}' at '${where}.image.format' failed`,
    );
    const { bytes } = asFields(source, where);
    addPart(turns, role, { image: asText(bytes, where), mediaType: `image/${String(format)}` });
  },

  reasoningContent(content, { role, turns, where }) {
    const { text, signature, ...rest } = asFields(asFields(content, where)["reasoningText"], where);
    onlyKnown(rest, "", extraneous);
    const thought = openSeal(signature)?.thought;
    demand(
      thought !== undefined && thought === text,
      `The model returned the following errors: ${where}: Invalid \`signature\` in \`thinking\` block`,
    );
    addPart(turns, role, { thought });
  },

  toolUse(content, { role, turns, callIds, where }) {
    const { toolUseId: id, name, input, ...rest } = asFields(content, where);
    onlyKnown(rest, "", extraneous);
    demand(
      /^[a-zA-Z0-9_-]{1,64}$/.test(String(id)),
      `Value '${String(id)}' at '${where}.toolUse.toolUseId' failed`,
    );
    callIds.push(String(id));
    addPart(turns, role, { call: asText(name, where), input: asFields(input, `${where}.toolUse.input`) });
  },

  toolResult(content, { role, turns, callIds, where }) {
    const { toolUseId: id, content: blocks, ...rest } = asFields(content, where);
    onlyKnown(rest, "status", extraneous);
    const results = asList(blocks, where).map((block) => {
      const { text, json } = asFields(block, where);
      demand(
        text !== "",
        "The model returned the following errors: messages: text content blocks must be non-empty",
      );
      return json === undefined ? asText(text, where) : JSON.stringify(json);
    });
    addPart(turns, role, { result: results.join(""), ofCall: callIds.indexOf(String(id)) });
  },
};

export function extraneous(name: string): string {
  return `Malformed input request: #: extraneous key [${name}] is not permitted, please reformat your input and try again.`;
}
