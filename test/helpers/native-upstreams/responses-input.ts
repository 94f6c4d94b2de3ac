import { addPart, type Part, type Turn } from "./native-upstream.ts";
import { openSeal } from "./thought-seal.ts";
import { asFields, asList, asText, demand, type Fields, readDataUrl, readJson } from "./vendor-refusal.ts";

/**
 * Converts the input of a Responses API request. Throws if the order or an item is invalid.
 * https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
 * @param isStored whether the request lets OpenAI store its items
 */
export function readResponsesInput(input: unknown, isStored: boolean): { system: string; turns: Turn[] } {
  const place: Place = { system: [], turns: [], callIds: [], open: new Set(), isStored, where: "input" };
  if (typeof input === "string") addPart(place.turns, "user", { text: input });
  else {
    const items = asList(input, "input");
    for (const [at, item] of items.entries()) {
      readItem(asFields(item, `input[${at}]`), { ...place, where: `input[${at}]` });
    }
    demandFollowed(items.at(-1));
  }
  const [unanswered] = place.open;
  demand(unanswered === undefined, `No tool output found for function call ${unanswered}.`);
  return { system: place.system.join("\n"), turns: place.turns };
}

type Place = {
  system: string[];
  turns: Turn[];
  callIds: string[];
  /** Calls without an output. */
  open: Set<string>;
  isStored: boolean;
  where: string;
};

function readItem(item: Fields, place: Place): void {
  const type = String(item["type"] ?? "message");
  const form = Object.hasOwn(itemForms, type) ? itemForms[type] : undefined;
  demand(form !== undefined, `Invalid value: '${type}'. Param: ${place.where}`);
  // OpenAI rejects foreign IDs: https://github.com/openai/codex/issues/33176
  const { id } = item;
  demand(
    id === undefined || id === null || asText(id, `${place.where}.id`).startsWith(form.idPrefix),
    `Invalid '${place.where}.id': '${String(id)}'. Expected an ID that begins with '${form.idPrefix}'.`,
  );
  form.read(item, place);
}

const itemForms: Record<string, { idPrefix: string; read(item: Fields, place: Place): void }> = {
  message: {
    idPrefix: "msg",
    read({ role, content }, { system, turns, where }) {
      if (role === "system" || role === "developer") {
        system.push(textsOf(content, "input_text", where).join(""));
      } else if (role === "assistant") {
        for (const text of textsOf(content, "output_text", where)) addPart(turns, role, { text });
      } else {
        demand(role === "user", `Invalid value: '${String(role)}'. Param: ${where}.role`);
        for (const part of userParts(content, where)) addPart(turns, role, part);
      }
    },
  },
  reasoning: {
    idPrefix: "rs",
    read({ id, summary, encrypted_content: seal }, { turns, isStored, where }) {
      asList(summary, `${where}.summary`);
      demand(
        isStored || (seal !== undefined && seal !== null),
        `Item with id '${String(id)}' not found. Items are not persisted when \`store\` is set to false.`,
      );
      const thought = openSeal(seal)?.thought;
      demand(thought !== undefined, "The encrypted content could not be verified.");
      addPart(turns, "assistant", { thought });
    },
  },
  function_call: {
    idPrefix: "fc",
    read(item, { turns, callIds, open, where }) {
      const id = asText(item["call_id"], `${where}.call_id`);
      callIds.push(id);
      open.add(id);
      const input = readJson(asText(item["arguments"], `${where}.arguments`));
      addPart(turns, "assistant", { call: asText(item["name"], `${where}.name`), input });
    },
  },
  function_call_output: {
    idPrefix: "fc",
    read({ call_id: id, output }, { turns, callIds, open, where }) {
      demand(
        open.delete(String(id)),
        `No tool call found for function call output with call_id ${String(id)}.`,
      );
      const result = textsOf(output, "input_text", where).join("");
      addPart(turns, "user", { result, ofCall: callIds.indexOf(String(id)) });
    },
  },
};

/** The user may also send images and files. https://platform.openai.com/docs/guides/pdf-files */
function userParts(content: unknown, where: string): Part[] {
  if (typeof content === "string") return [{ text: content }];
  return asList(content, `${where}.content`).flatMap((each): Part[] => {
    const { type, image_url: image, filename, file_data: file } = asFields(each, `${where}.content`);
    if (type === "input_image") return [readDataUrl(image, `${where}.image_url`)];
    if (type !== "input_file") return textsOf([each], "input_text", where).map((text) => ({ text }));
    asText(filename, `${where}.filename`);
    return [readDataUrl(file, `${where}.file_data`)];
  });
}

function textsOf(content: unknown, type: string, where: string): string[] {
  if (typeof content === "string") return [content];
  return asList(content, `${where}.content`).map((each) => {
    const part = asFields(each, `${where}.content`);
    demand(
      part["type"] === type,
      `Invalid value: '${String(part["type"])}'. Supported values are: '${type}'. Param: ${where}.content[0]`,
    );
    return asText(part["text"], `${where}.content.text`);
  });
}

/** Throws if the input ends with thoughts. */
function demandFollowed(last: unknown): void {
  if (last === undefined) return;
  const { type, id } = asFields(last, "input");
  demand(
    type !== "reasoning",
    `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`,
  );
}
