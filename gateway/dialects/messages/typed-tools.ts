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

export type TypedTool = { description: string; parameters: object };

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
