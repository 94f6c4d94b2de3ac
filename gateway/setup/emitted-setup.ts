export type EmittedSetup = {
  /** The script without a key. The script reads the key from the environment or the terminal. */
  script: string;
  /** The script as a command to paste, with the key if the input contains one. */
  command: string;
  /** The command that runs the undo script on the user's machine, without a download. */
  undo: string;
  /** On Windows, an entry can show the account's environment variables instead of a file. */
  files: ShownFile[];
};

export type ScriptTarget = { tool: string; toolName: string; baseUrl: string };

export type ShownFile = {
  path: string;
  /** Names the file that the setup may change instead, and the condition. */
  instead: string | null;
  /** The part of the file that the setup writes, with a placeholder instead of the key. */
  content: string;
  /** The JSON settings or Windows variables that the setup removes if present. */
  removes: string[];
  language: "json" | "toml" | "ini" | "yaml" | "sh" | "powershell";
};
