/**
 * What setting up a tool changes on a machine, independent of the shell. The tools' files create it, and one emitter
 * per shell turns it into a command. Everything is merged, and a second run changes nothing.
 */
export type SetupPlan = {
  /** The tab's ID, also part of file names. */
  tool: string;
  toolName: string;
  /** The program on the PATH, to report a tool that is not installed. Null to skip that. */
  program: string | null;
  /** A command that installs the tool. Null where there are several ways. */
  install: string | null;
  /** All are written, or none: one that cannot be merged stops the setup. */
  files: PlannedFile[];
  environment: PlannedEnvironment | null;
  /** Without a trailing slash and without `/v1`. */
  baseUrl: string;
  /** The slugs in the settings, once each. The final check reports those that the key cannot use. */
  slugs: string[];
  /** The next step after success, as plain text. */
  next: string;
};

/** A missing file is created with its folders. Only its owner can read it, except for a shell profile. */
export type PlannedFile = FilePlace & FileChange;

export type FilePlace = {
  folder: Folder;
  /** Below the folder, with the file name last. No part contains a slash. */
  path: string[];
  /** Another file in the same folder that the tool prefers. If it exists, it is merged into instead. */
  beatenBy?: string;
};

/** A folder that an environment variable can move, and its default. */
type Folder = {
  variable: string | null;
  /** Below the home folder ($HOME, %USERPROFILE%). */
  home: string[];
};

/** `json` is plain JSON without comments. The tools of `jsonc` accept comments and trailing commas. */
export type FileChange =
  | { format: "json" | "jsonc"; operations: JsonOperation[] }
  | { format: "toml"; operations: TomlOperation[] }
  | { format: "env"; operations: EnvOperation[] }
  | OwnFile;

/** Strings equal to `keyPlaceholder` become the key. Path names consist of letters, digits, `_`, `$` and `-`. */
export type JsonOperation =
  /** Creates missing objects and replaces null. Rejects the file if the path contains any other value. */
  | { do: "set"; path: string[]; value: Json }
  /** Sets what is not there yet. */
  | { do: "default"; path: string[]; value: Json }
  | { do: "remove"; path: string[] }
  /** In the array at `path`, made if need be: the objects whose `member` is `is` give way to `entries`, at the end. */
  | { do: "replaceEntries"; path: string[]; member: string; is: string; entries: Json[] };

/** Strings equal to `keyPlaceholder` become the key. */
export type TomlOperation =
  /** The last part is the key, the parts before it the table. A missing table is appended. */
  | { do: "set"; path: string[]; value: string | number | boolean }
  /** The tables directly below `path` whose name starts with `prefix`, but for those named in `keep`. */
  | { do: "removeTables"; path: string[]; prefix: string; keep: string[] };

/** A `NAME=value` line. A value equal to `keyPlaceholder` becomes the key. */
export type EnvOperation = { do: "set"; name: string; value: string };

/**
 * A file that the setup owns. An existing one is replaced if its first line is that of `text`. Otherwise it belongs to
 * the user: `otherwise` is written instead, or the file is refused if that is null. Lines end in `\n`, including the
 * last. It may contain `keyPlaceholder`.
 */
type OwnFile = { format: "own"; text: string; otherwise: FilePlace | null };

/** For tools with environment variables only. A value equal to `keyPlaceholder` becomes the key. */
export type PlannedEnvironment = {
  variables: Record<string, string>;
  /** Variables of older setups that would interfere. */
  remove: string[];
  /** `always`: every new terminal has them. `on-demand`: the user loads their file. */
  load: "always" | "on-demand";
};

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Replaces the key in a plan, so that plans do not depend on it. No validated text contains it. */
export const keyPlaceholder = "{{GATEWAY_API_KEY}}";
