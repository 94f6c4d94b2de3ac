/**
 * Describes a tool that Anthropic defines and the client runs, for models other than Claude. Null for tools that
 * Anthropic runs, and for computer and browser, which need training.
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
    "Runs a command in a bash session that lasts: its working directory, its variables and its files are there for the next command.",
  parameters: toSchema([], {
    command: text("The command to run. Needed unless the session is restarted."),
    restart: { type: "boolean", description: "Whether to restart the session instead." },
  }),
};

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/text-editor-tool */
function textEditor(date: number): TypedTool {
  const isOld = date < 20250429;
  const commands = ["view", "create", "str_replace", "insert", ...(isOld ? ["undo_edit"] : [])];
  const inserted = "The text that insert puts in.";
  return {
    description:
      "Views, creates and edits text files. str_replace replaces a text that must occur in the file exactly once, white space included." +
      (isOld ? " undo_edit takes back the last edit of the file." : ""),
    parameters: toSchema(["command", "path"], {
      command: { type: "string", enum: commands },
      path: text("The file, or for view the directory."),
      view_range: range,
      file_text: text("What create writes into the file."),
      old_str: text("The text that str_replace replaces."),
      new_str: text(`The text that str_replace puts in its place.${isOld ? ` ${inserted}` : ""}`),
      insert_line: line,
      ...(!isOld && { insert_text: text(inserted) }),
    }),
  };
}

const range = {
  type: "array",
  items: { type: "integer" },
  description: "The first and the last line that view shows, counted from 1; -1 is the end of the file.",
};

const line = {
  type: "integer",
  description: "The line after which insert puts its text; 0 is the beginning of the file.",
};

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool */
const memory: TypedTool = {
  description:
    "Keeps what is worth remembering in files under /memories, across conversations. Look there before you begin a task.",
  parameters: toSchema(["command"], {
    command: { type: "string", enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
    path: text("The file or the directory. Needed for all but rename."),
    view_range: range,
    file_text: text("What create writes into the file."),
    old_str: text("The text that str_replace replaces."),
    new_str: text("The text that str_replace puts in its place."),
    insert_line: line,
    insert_text: text("The text that insert puts in."),
    old_path: text("What rename renames."),
    new_path: text("What rename calls it."),
  }),
};

function text(description: string): object {
  return { type: "string", description };
}

function toSchema(required: string[], properties: Record<string, object>): object {
  return { type: "object", properties, required, additionalProperties: false };
}
