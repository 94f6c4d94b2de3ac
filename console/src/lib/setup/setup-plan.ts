/**
 * What setting up one tool changes on somebody's machine, said without any shell: the tools' files make it, and one emitter
 * for each kind of shell turns it into a command. Everything is merged into what is there; a second run changes nothing.
 */
export type SetupPlan = {
  /** The tab's id; also part of the names of files of ours. */
  tool: string;
  toolName: string;
  /** What is looked for on the PATH, to say so if the tool is not installed; null if nothing can be looked for. */
  program: string | null;
  /** A command that installs the tool; null where there is more than one way. */
  install: string | null;
  /** All of them are written, or none: one that cannot be merged stops the whole. */
  files: PlannedFile[];
  environment: PlannedEnvironment | null;
  /** Without a slash at the end, and without `/v1`. */
  baseUrl: string;
  /** The slugs in the settings, each once: the check at the end says if the key may not use one of them. */
  slugs: string[];
  /** What to do once it has worked, as plain text. */
  next: string;
};

/** A file is made, with its folders, if it is not there; it is readable by its owner only, but for a shell's profile. */
export type PlannedFile = FilePlace & FileChange;

export type FilePlace = {
  folder: Folder;
  /** Below the folder, the file's name last. Never with a slash in a part. */
  path: string[];
  /** The name of another file in the same place: if it is there it is merged into instead, since the tool prefers it. */
  beatenBy?: string;
};

/** A folder that the tool lets people move with an environment variable, and where it is if that is not set or empty. */
type Folder = {
  variable: string | null;
  /** Below the home folder ($HOME, %USERPROFILE%). */
  home: string[];
};

/** `json` is plain JSON, where a comment is a mistake; the tools of `jsonc` read comments and commas at the end, too. */
export type FileChange =
  | { format: "json" | "jsonc"; operations: JsonOperation[] }
  | { format: "toml"; operations: TomlOperation[] }
  | { format: "env"; operations: EnvOperation[] }
  | OwnFile;

/** Strings that are exactly `keyPlaceholder` become the key. Names of a path are letters, digits, `_`, `$` and `-`. */
export type JsonOperation =
  /** Makes the objects on the way, in the place of null too. Anything else in the way makes the file one that is refused. */
  | { do: "set"; path: string[]; value: Json }
  /** Sets what is not there yet. */
  | { do: "default"; path: string[]; value: Json }
  | { do: "remove"; path: string[] }
  /** In the array at `path`, made if need be: the objects whose `member` is `is` give way to `entries`, at the end. */
  | { do: "replaceEntries"; path: string[]; member: string; is: string; entries: Json[] };

/** Strings that are exactly `keyPlaceholder` become the key. */
export type TomlOperation =
  /** The last part is the key, the parts before it the table, which is made at the end if it is not there. */
  | { do: "set"; path: string[]; value: string | number | boolean }
  /** The tables directly below `path` whose name starts with `prefix`, but for those named in `keep`. */
  | { do: "removeTables"; path: string[]; prefix: string; keep: string[] };

/** A line `NAME=value`; a value that is exactly `keyPlaceholder` becomes the key. */
export type EnvOperation = { do: "set"; name: string; value: string };

/**
 * A file that is ours as a whole. One that is there already is replaced if its first line is the first line of `text`;
 * otherwise it is somebody's own, and `otherwise` is written in its place, or the file is refused if that is null.
 * Lines end in `\n`, the last one too; `keyPlaceholder` may stand anywhere in it.
 */
type OwnFile = { format: "own"; text: string; otherwise: FilePlace | null };

/** For tools that are set up by nothing but environment variables. A value that is exactly `keyPlaceholder` becomes the key. */
export type PlannedEnvironment = {
  variables: Record<string, string>;
  /** Variables of older setups that would get in the way. */
  remove: string[];
  /** `always`: every new terminal has them. `on-demand`: they stand in a file that the person loads. */
  load: "always" | "on-demand";
};

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Stands for the key in a plan, which is the same whether the key is known or asked for. No validated text contains it. */
export const keyPlaceholder = "{{GATEWAY_API_KEY}}";
