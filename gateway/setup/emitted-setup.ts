export type EmittedSetup = {
  /** The script as the gateway serves it. It reads the key from the environment or the terminal. */
  script: string;
  /** The script as a command to paste, with the key if there is one. */
  command: string;
  /** The command that undoes the last setup that changed something, without the gateway. */
  undo: string;
  /** The planned files, in order, with paths in the system's notation. */
  files: ShownFile[];
};

export type ScriptTarget = { tool: string; toolName: string; baseUrl: string };

export type ShownFile = {
  path: string;
  /** The file that is changed instead, and when. */
  instead: string | null;
  /** The gateway's part of the file, with a placeholder for the key, to show and to merge manually. */
  content: string;
  /** Settings of older setups that are removed if present. */
  removes: string[];
  language: "json" | "toml" | "ini" | "yaml" | "sh" | "powershell";
};
