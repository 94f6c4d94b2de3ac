/** A plan as a command of one kind of shell. */
export type EmittedSetup = {
  /** Ready to paste. */
  command: string;
  /** Undoes the last command that changed something. */
  undo: string;
  /** Paths in the system's notation, in the plan's order. */
  files: ShownFile[];
};

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
