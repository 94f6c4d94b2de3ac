import { isObject } from "../../wire/json.ts";
import { given } from "../../wire/parameter-errors.ts";

/** A tool that OpenAI's API defines and the client runs. Other upstreams receive the tool as a function. */
export type BuiltInTool = {
  description: string;
  parameters: Record<string, unknown>;
  callType: string;
  idPrefix: string;
  toArguments(item: Record<string, unknown>): object;
  /** The call's members besides its type, IDs and status. */
  formatCall(args: Record<string, unknown>): object;
};

export const builtInTypes = ["local_shell", "shell", "apply_patch", "tool_search"] as const;

export type BuiltInType = (typeof builtInTypes)[number];

export const builtInTools: Record<BuiltInType, BuiltInTool> = {
  // https://platform.openai.com/docs/guides/tools-local-shell
  local_shell: {
    description: "Runs a command on the user's machine and returns its output.",
    parameters: objectSchema(
      {
        command: { type: "array", items: { type: "string" }, description: "The program and its arguments." },
        working_directory: { type: "string", description: "The working directory." },
        timeout_ms: { type: "integer", description: "The timeout in milliseconds." },
      },
      ["command"],
    ),
    callType: "local_shell_call",
    idPrefix: "lsh",
    toArguments: ({ action }) => {
      const { command, working_directory, timeout_ms } = isObject(action) ? action : {};
      return { command, ...given({ working_directory, timeout_ms }) };
    },
    formatCall: ({ command, working_directory, timeout_ms }) => ({
      action: {
        type: "exec",
        command: toStrings(command),
        env: {},
        ...given({
          working_directory: toText(working_directory),
          timeout_ms: toInteger(timeout_ms),
        }),
      },
    }),
  },

  // https://platform.openai.com/docs/guides/tools-shell
  shell: {
    description: "Runs shell commands on the user's machine and returns their output.",
    parameters: objectSchema(
      {
        commands: {
          type: "array",
          items: { type: "string" },
          description: "Independent commands.",
        },
        timeout_ms: { type: "integer", description: "The timeout in milliseconds." },
        max_output_length: { type: "integer", description: "The maximum number of output characters." },
      },
      ["commands"],
    ),
    callType: "shell_call",
    idPrefix: "sh",
    toArguments: ({ action }) => {
      const { commands, timeout_ms, max_output_length } = isObject(action) ? action : {};
      return { commands, ...given({ timeout_ms, max_output_length }) };
    },
    formatCall: ({ commands, timeout_ms, max_output_length }) => ({
      action: {
        commands: toStrings(commands),
        timeout_ms: toInteger(timeout_ms),
        max_output_length: toInteger(max_output_length),
      },
      environment: { type: "local" },
    }),
  },

  // https://platform.openai.com/docs/guides/tools-apply-patch
  apply_patch: {
    description: "Creates, changes or deletes one of the user's files.",
    parameters: objectSchema(
      {
        type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
        path: { type: "string" },
        diff: {
          type: "string",
          description:
            "The change in the V4A diff format: lines that start with a space, + or -, after an @@ line with the location. For create_file, + lines only. Not for delete_file.",
        },
      },
      ["type", "path"],
    ),
    callType: "apply_patch_call",
    idPrefix: "apc",
    toArguments: ({ operation }) => {
      const { type, path, diff } = isObject(operation) ? operation : {};
      return { type, path, ...given({ diff }) };
    },
    formatCall: ({ type, path, diff }) => ({
      operation:
        type === "delete_file"
          ? { type, path: toText(path) ?? "" }
          : {
              type: type === "create_file" ? type : "update_file",
              path: toText(path) ?? "",
              diff: toText(diff) ?? "",
            },
    }),
  },

  // https://platform.openai.com/docs/guides/tools-tool-search
  tool_search: {
    description: "Finds further tools, which can be called afterwards.",
    parameters: objectSchema({ query: { type: "string" } }, ["query"]),
    callType: "tool_search_call",
    idPrefix: "tsc",
    toArguments: ({ arguments: args }) => (isObject(args) ? args : {}),
    formatCall: (args) => ({ execution: "client", arguments: args }),
  },
};

export function objectSchema(properties: object, required: string[]): Record<string, unknown> {
  return { type: "object", properties, required, additionalProperties: false };
}

function toStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value)
    ? value.map((each) => (typeof each === "string" ? each : JSON.stringify(each)))
    : [];
}

function toText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function toInteger(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}
