import { toFunctionName } from "../dialect.ts";
import { isObject, listOf, textOf } from "../../wire/json.ts";
import {
  invalidValue,
  expectBoolean,
  expectObject,
  expectString,
  ifGiven,
} from "../../wire/parameter-errors.ts";

/** Omits tools that Anthropic runs (search, code, MCP servers), and those that only Claude knows (computer, browser). */
export function toChatTools(body: Record<string, unknown>): ChatTools {
  const given = currentTools(body).filter(({ tool }) => !isPlaceholder(tool));
  const tools = given.flatMap(toFunction);
  if (tools.length > 0) return { tools, unavailable: [], ...toToolChoice(body["tool_choice"], tools) };
  return { unavailable: given.map(({ tool, param }) => expectString(shownName(tool), `${param}.name`)) };
}

type ChatTools = {
  tools?: ChatFunction[];
  tool_choice?: string | object | undefined;
  parallel_tool_calls?: false;
  /** The names of the omitted tools, if the request has no other tools. */
  unavailable: string[];
};

type ChatFunction = { type: "function"; function: { name: string; [field: string]: unknown } };

/** Claude Code sends this placeholder for tools that the model can load later. */
function isPlaceholder(tool: unknown): boolean {
  return isObject(tool) && tool["name"] === "DeferredToolPlaceholder" && tool["defer_loading"] === true;
}

/** Ignores `defer_loading`, because only Anthropic can search for deferred tools. */
function toFunction({ tool: value, param }: CurrentTool): ChatFunction[] {
  const tool = expectObject(value, param);
  const type = ifGiven(tool["type"], `${param}.type`, expectString) ?? "custom";
  const name = () => toFunctionName(expectString(tool["name"], `${param}.name`));
  const cacheControl = ifGiven(tool["cache_control"], `${param}.cache_control`, expectObject);
  const marker = cacheControl && { cache_control: cacheControl };
  if (type !== "custom") {
    const typed = findTypedTool(type);
    return typed ? [{ type: "function", function: { name: name(), ...typed }, ...marker }] : [];
  }
  const description = ifGiven(tool["description"], `${param}.description`, expectString);
  const isStrict = ifGiven(tool["strict"], `${param}.strict`, expectBoolean);
  return [
    {
      type: "function",
      function: {
        name: name(),
        ...(description !== undefined && { description }),
        parameters: expectObject(tool["input_schema"], `${param}.input_schema`),
        ...(isStrict === true && { strict: true }),
      },
      ...marker,
    },
  ];
}

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools#forcing-tool-use */
function toToolChoice(value: unknown, tools: ChatFunction[]): Omit<ChatTools, "tools" | "unavailable"> {
  const choice = ifGiven(value, "tool_choice", expectObject);
  if (choice === undefined) return {};
  const param = "tool_choice.disable_parallel_tool_use";
  const isAlone = ifGiven(choice["disable_parallel_tool_use"], param, expectBoolean) === true;
  const parallel = isAlone ? { parallel_tool_calls: false as const } : {};
  switch (choice["type"]) {
    case "auto":
      return parallel;
    case "any":
      return { tool_choice: "required", ...parallel };
    case "none":
      return { tool_choice: "none" };
    case "tool": {
      const name = toFunctionName(expectString(choice["name"], "tool_choice.name"));
      // The chosen tool may have been omitted.
      const isThere = tools.some((tool) => tool.function.name === name);
      return { ...(isThere && { tool_choice: { type: "function", function: { name } } }), ...parallel };
    }
    default:
      throw invalidValue("tool_choice.type", "must be one of auto, any, tool, none", choice["type"]);
  }
}

function shownName(tool: unknown): unknown {
  if (!isObject(tool)) return undefined;
  return tool["name"] ?? tool["mcp_server_name"] ?? tool["type"];
}

/**
 * Returns the request's tools after the changes that its system messages make. The tools are not validated yet.
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
export function currentTools(body: Record<string, unknown>): CurrentTool[] {
  const tools = listOf(body["tools"]).map((tool, index): CurrentTool => ({ tool, param: `tools[${index}]` }));
  /** The position of each name's last `tool_definition`, which replaces earlier definitions. */
  const definedAt = new Map<unknown, number>();
  const withdrawn = new Set<unknown>();
  for (const { type, tool, param } of findChanges(body["messages"])) {
    const { type: kind, definition } = tool;
    const isDefined = kind === "tool_definition";
    if (!isDefined && kind !== "tool_reference") continue;
    const name = isDefined ? nameOf(definition) : tool["name"];
    if (type === "tool_removal") withdrawn.add(name);
    else withdrawn.delete(name);
    if (isDefined) {
      definedAt.set(name, tools.length);
      tools.push({ tool: definition, param: `${param}.definition` });
    }
  }
  return tools.filter(({ tool }, index) => {
    const name = nameOf(tool);
    return index >= (definedAt.get(name) ?? 0) && !withdrawn.has(name);
  });
}

type CurrentTool = { tool: unknown; param: string };

type Change = { type: unknown; tool: Record<string, unknown>; param: string };

function findChanges(messages: unknown): Change[] {
  return listOf(messages).flatMap((message, index) =>
    isObject(message) && message["role"] === "system"
      ? listOf(message["content"]).flatMap((block, position): Change[] => {
          const { type, tool } = isObject(block) ? block : {};
          if ((type !== "tool_addition" && type !== "tool_removal") || !isObject(tool)) return [];
          return [{ type, tool, param: `messages[${index}].content[${position}].tool` }];
        })
      : [],
  );
}

function nameOf(tool: unknown): unknown {
  return isObject(tool) ? tool["name"] : undefined;
}

/** Maps shortened tool names to the client's names. Anthropic allows 128 characters, and most other providers 64. */
export function shortenedNames(body: Record<string, unknown>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { tool } of currentTools(body)) {
    const name = textOf(nameOf(tool));
    const shortened = toFunctionName(name);
    if (shortened !== name) names.set(shortened, name);
  }
  return names;
}

/**
 * Converts a tool call's ID reversibly to characters that Anthropic accepts, because the conversation may
 * continue with Claude. Kimi, for example, sends `functions.read:0`.
 * @param fallback used if the upstream sent no ID
 */
export function toToolUseId(id: unknown, fallback: string): string {
  if (typeof id !== "string" || id === "") return fallback;
  return /^[\w-]+$/.test(id) && !id.startsWith(prefix)
    ? id
    : `${prefix}${Buffer.from(id).toString("base64url")}`;
}

export function fromToolUseId(id: string): string {
  return id.startsWith(prefix) ? Buffer.from(id.slice(prefix.length), "base64url").toString("utf8") : id;
}

const prefix = "toolu_gateway_";

/**
 * Describes a tool that Anthropic defines and the client runs, for models other than Claude. Null for tools that
 * Anthropic runs, and for the computer and browser tools, because other models are not trained for them.
 * @param type with its date, such as `bash_20250124`
 */
export function findTypedTool(type: string): TypedTool | null {
  const [, kind, date] = /^([a-z_]+)_(\d{8})$/.exec(type) ?? [];
  switch (kind) {
    case "bash":
      return bash;
    case "text_editor":
      return textEditor(Number(date));
    case "memory":
      return memory;
    default:
      return null;
  }
}

type TypedTool = { description: string; parameters: object };

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool */
const bash: TypedTool = {
  description:
    "Runs a command in a persistent bash session: the working directory, variables and files stay available for the next command.",
  parameters: toSchema([], {
    command: text("The command to run. Required unless the session is restarted."),
    restart: { type: "boolean", description: "Whether to restart the session instead." },
  }),
};

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/text-editor-tool */
function textEditor(date: number): TypedTool {
  const isOld = date < 20250429;
  const commands = ["view", "create", "str_replace", "insert", ...(isOld ? ["undo_edit"] : [])];
  const inserted = "The text to insert.";
  return {
    description:
      "Views, creates and edits text files. str_replace replaces text that must match exactly once in the file, including whitespace." +
      (isOld ? " undo_edit reverts the last edit of the file." : ""),
    parameters: toSchema(["command", "path"], {
      command: { type: "string", enum: commands },
      path: text("The path of the file. For view, also a directory."),
      view_range: range,
      file_text: text("The content that create writes to the file."),
      old_str: text("The text to replace."),
      new_str: text(`The replacement text.${isOld ? ` ${inserted}` : ""}`),
      insert_line: line,
      ...(!isOld && { insert_text: text(inserted) }),
    }),
  };
}

const range = {
  type: "array",
  items: { type: "integer" },
  description: "The first and the last line to view, counted from 1. -1 is the end of the file.",
};

const line = {
  type: "integer",
  description: "The line after which to insert the text. 0 is the start of the file.",
};

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool */
const memory: TypedTool = {
  description:
    "Keeps notes worth remembering in files under /memories, across conversations. Look there before you start a task.",
  parameters: toSchema(["command"], {
    command: { type: "string", enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
    path: text("The file or directory. Required for all commands except rename."),
    view_range: range,
    file_text: text("The content that create writes to the file."),
    old_str: text("The text to replace."),
    new_str: text("The replacement text."),
    insert_line: line,
    insert_text: text("The text to insert."),
    old_path: text("The path to rename."),
    new_path: text("The new path."),
  }),
};

function text(description: string): object {
  return { type: "string", description };
}

function toSchema(required: string[], properties: Record<string, object>): object {
  return { type: "object", properties, required, additionalProperties: false };
}
