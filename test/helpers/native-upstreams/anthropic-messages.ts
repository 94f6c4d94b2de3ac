import type { ClaudeModel } from "./anthropic-thinking.ts";
import { addPart, type Turn } from "./native-upstream.ts";
import { openSeal } from "./thought-seal.ts";
import { asFields, asList, asText, demand, type Fields, onlyKnown } from "./vendor-refusal.ts";

/**
 * Converts the messages of a Messages API request to turns. Throws if their order or a block is invalid.
 * https://platform.claude.com/docs/en/api/messages
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
export function readClaudeMessages(messages: unknown, model: ClaudeModel, betas: string): Turn[] {
  const turns: Turn[] = [];
  const callIds: string[] = [];
  let open: string[] = [];
  for (const [at, each] of asList(messages, "messages").entries()) {
    const where = `messages.${at}`;
    const { role, content, ...rest } = asFields(each, where);
    const ofTurn = role === "system" && betas.includes("per-turn-control-2026-07-01") ? "output_config" : "";
    onlyKnown(rest, ofTurn, (name) => `${where}.${name}: Extra inputs are not permitted`);
    const blocks = contentBlocks(content, where);
    if (role === "system" && model.takesSystemMessages) {
      readSystemMessage(blocks, turns, where);
      continue;
    }
    demand(role === "user" || role === "assistant", `${where}.role: Input should be 'user' or 'assistant'`);
    checkResults(blocks, open, at);
    for (const [index, block] of blocks.entries()) {
      readBlock(block, { role, turns, callIds, where: `${where}.content.${index}` });
    }
    open = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => asText(id, where));
  }
  demand(open.length === 0, unanswered(turns.length - 1, open));
  return turns;
}

/** A system message counts as part of the user turn that it must follow. */
function readSystemMessage(blocks: Fields[], turns: Turn[], where: string): void {
  demand(turns.at(-1)?.role === "user", `${where}: a system message must follow a user turn`);
  for (const { type, text } of blocks) {
    demand(type === "text", `${where}.content: Input tag '${String(type)}' does not match 'text'`);
    addPart(turns, "user", { text: asText(text, where) });
  }
}

function contentBlocks(content: unknown, where: string): Fields[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return asList(content, `${where}.content`).map((block) => asFields(block, `${where}.content`));
}

/** Throws unless the blocks start with the results of the open calls, and contain no other results. */
function checkResults(blocks: Fields[], open: string[], at: number): void {
  const leading = blocks.slice(0, open.length).filter(({ type }) => type === "tool_result");
  const answered = new Set(leading.map((result) => result["tool_use_id"]));
  const missing = open.filter((id) => !answered.has(id));
  demand(missing.length === 0, unanswered(at - 1, missing));
  for (const { tool_use_id: id } of blocks.filter(({ type }) => type === "tool_result")) {
    demand(
      answered.has(id),
      `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(id)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
    );
  }
}

function unanswered(at: number, ids: string[]): string {
  return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

type Place = { role: Turn["role"]; turns: Turn[]; callIds: string[]; where: string };

function readBlock(block: Fields, place: Place): void {
  const { where } = place;
  const type = String(block["type"]);
  const form = Object.hasOwn(blockForms, type) ? blockForms[type] : undefined;
  demand(form !== undefined, `${where}: Input tag '${type}' does not match any of the expected tags`);
  onlyKnown(block, form.fields, (name) => `${where}.${type}.${name}: Extra inputs are not permitted`);
  form.read(block, place);
}

const blockForms: Record<string, { fields: string; read(block: Fields, place: Place): void }> = {
  text: {
    fields: "type text cache_control citations",
    read(block, { role, turns, where }) {
      const text = asText(block["text"], where);
      demand(text !== "", "messages: text content blocks must be non-empty");
      demand(text.trim() !== "", "messages: text content blocks must contain non-whitespace text");
      addPart(turns, role, { text });
    },
  },
  image: {
    fields: "type source cache_control",
    read(block, { role, turns, where }) {
      const { media_type: mediaType, data, ...rest } = asFields(block["source"], `${where}.source`);
      demand(rest["type"] === "base64", `${where}.source.type: Unable to download the file.`);
      const types = /^image\/(png|jpeg|gif|webp)$/;
      demand(types.test(String(mediaType)), `${where}.source.base64.media_type: Input should be 'image/…'`);
      addPart(turns, role, { image: asText(data, where), mediaType: String(mediaType) });
    },
  },
  // https://platform.claude.com/docs/en/build-with-claude/pdf-support
  document: {
    fields: "type source title context citations cache_control",
    read(block, { role, turns, where }) {
      const { type, media_type: mediaType, data } = asFields(block["source"], `${where}.source`);
      demand(type === "base64", `${where}.source.type: Unable to download the file.`);
      const isPdf = mediaType === "application/pdf";
      demand(isPdf, `${where}.source.base64.media_type: Input should be 'application/pdf'`);
      addPart(turns, role, { image: asText(data, where), mediaType: "application/pdf" });
    },
  },
  thinking: {
    fields: "type thinking signature",
    read(block, { role, turns, where }) {
      const thought = openSeal(block["signature"])?.thought;
      const isIntact = thought !== undefined && (block["thinking"] === "" || block["thinking"] === thought);
      demand(isIntact, `${where}: Invalid \`signature\` in \`thinking\` block`);
      if (thought !== "") addPart(turns, role, { thought });
    },
  },
  tool_use: {
    fields: "type id name input cache_control caller",
    read(block, { role, turns, callIds, where }) {
      const id = asText(block["id"], `${where}.tool_use.id`);
      demand(/^[a-zA-Z0-9_-]+$/.test(id), `${where}.tool_use.id: String should match '^[a-zA-Z0-9_-]+$'`);
      demand(!callIds.includes(id), `${where}: \`tool_use\` ids must be unique`);
      callIds.push(id);
      const input = asFields(block["input"], `${where}.tool_use.input`);
      addPart(turns, role, { call: asText(block["name"], `${where}.tool_use.name`), input });
    },
  },
  tool_result: {
    fields: "type tool_use_id content is_error cache_control",
    read(block, { role, turns, callIds, where }) {
      const blocks = contentBlocks(block["content"] ?? [], where);
      const texts = blocks.map(({ text }) => asText(text, `${where}.tool_result.content`));
      const isEmpty = Array.isArray(block["content"]) && texts.includes("");
      demand(!isEmpty, "messages: text content blocks must be non-empty");
      const result = texts.join("");
      addPart(turns, role, { result, ofCall: callIds.indexOf(String(block["tool_use_id"])) });
    },
  },
};
