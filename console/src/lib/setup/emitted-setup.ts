/** A plan in the words of one kind of shell. */
export type EmittedSetup = {
  /** To be pasted as it is. */
  command: string;
  /** Takes back what the last command that changed something has changed. */
  undo: string;
  /** As people of that system write paths, in the order of the plan. */
  files: ShownFile[];
};

export type ShownFile = {
  path: string;
  /** In words, the file that is changed in its place, and when. */
  instead: string | null;
  /** What the file has afterwards, of ours alone, with words in the place of the key; for a look and for merging by hand. */
  content: string;
  /** What is taken out of it, if it is there: settings of older setups. */
  removes: string[];
  language: "json" | "toml" | "ini" | "yaml" | "sh" | "powershell";
};
