import { isObject, listOf } from "../../wire/json.ts";

/**
 * The tools at the end of the conversation: those of the request, with changes by its system messages. Not
 * yet validated. https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
export function currentTools(body: Record<string, unknown>): CurrentTool[] {
  const tools = listOf(body["tools"]).map((tool, index): CurrentTool => ({ tool, param: `tools[${index}]` }));
  /** The last definition of a name replaces the earlier ones. */
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

export type CurrentTool = { tool: unknown; param: string };

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
