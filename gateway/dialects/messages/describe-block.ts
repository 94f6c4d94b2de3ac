import { isObject, listOf } from "../../wire/json.ts";
import type { Block } from "./to-blocks.ts";

/**
 * Describes a block that only Anthropic supports, such as search results, as text for another model. Empty if
 * there is nothing to describe, null for an unknown type.
 */
export function describeBlock({ type, fields }: Block): string | null {
  const { content } = fields;
  switch (type) {
    case "tool_reference":
      return `The tool ${textOf(fields["tool_name"])} is now available.`;
    case "search_result":
      return inTags(type, `${textOf(fields["title"])} (${textOf(fields["source"])})\n${textsIn(content)}`);
    case "web_search_tool_result":
      return inTags(type, listOf(content).map(describeHit).join("\n") || errorIn(content));
    case "web_fetch_tool_result":
      return inTags(type, describePage(content) || errorIn(content));
    case "code_execution_tool_result":
    case "bash_code_execution_tool_result":
    case "text_editor_code_execution_tool_result":
      return inTags(type, describeRun(content) || errorIn(content));
    case "mcp_tool_result":
      return inTags(type, typeof content === "string" ? content : textsIn(content));
    case "compaction":
      return textOf(content);
    case "browser_state":
      return JSON.stringify(fields);
    case "server_tool_use":
    case "mcp_tool_use":
    case "tool_search_tool_result":
    case "mcp_tool_listing":
    case "fallback":
      return "";
    default:
      return null;
  }
}

/**
 * Omits the hit's content, which is encrypted.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
 */
function describeHit(hit: unknown): string {
  return isObject(hit) ? `- ${textOf(hit["title"])} (${textOf(hit["url"])})` : "";
}

function describePage(content: unknown): string {
  if (!isObject(content) || typeof content["url"] !== "string") return "";
  const page = isObject(content["content"]) ? content["content"] : {};
  const source = isObject(page["source"]) ? page["source"] : {};
  return `${content["url"]}\n${source["type"] === "text" ? textOf(source["data"]) : ""}`.trim();
}

function describeRun(content: unknown): string {
  if (!isObject(content)) return "";
  const { stdout, stderr, content: shown, return_code: code } = content;
  const lines = [textOf(stdout), textOf(stderr), textOf(shown)].filter((text) => text !== "");
  return [...lines, ...(typeof code === "number" && code !== 0 ? [`Exit code ${code}`] : [])].join("\n");
}

function errorIn(content: unknown): string {
  const code = isObject(content) ? textOf(content["error_code"]) : "";
  return code === "" ? "" : `Error: ${code}`;
}

function textsIn(content: unknown): string {
  return listOf(content)
    .map((block) => (isObject(block) ? textOf(block["text"]) : ""))
    .join("\n");
}

function inTags(name: string, text: string): string {
  return text.trim() === "" ? "" : `<${name}>\n${text.trim()}\n</${name}>`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
