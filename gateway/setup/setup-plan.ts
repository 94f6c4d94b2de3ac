/**
 * The changes that set up a tool on a machine, independent of the shell. Each tool's file in `tools` builds a
 * plan, and each shell's emitter turns it into a command. A second run changes nothing.
 */
export type SetupPlan = {
  /** The ID of the tab, which is also part of file names. */
  tool: string;
  toolName: string;
  /** The program on the PATH, to report a missing tool. Null skips the check. */
  program: string | null;
  /** A command that installs the tool. Null if there are several ways. */
  install: string | null;
  /** The files to write, all or none: one that cannot be merged stops the setup. */
  files: PlannedFile[];
  environment: PlannedEnvironment | null;
  /** The base URL without a trailing slash and `/v1`. */
  baseUrl: string;
  /** The unique slugs in the settings. The final check reports those that the key cannot use. */
  slugs: string[];
  /** The next step after a success, as plain text. */
  next: string;
};

/** A missing file is created with its folders. Only its owner can read it, except for a shell profile. */
export type PlannedFile = FilePlace & FileChange;

export type FilePlace = {
  folder: Folder;
  /** The path below the folder, with the file name last. Parts contain no slash. */
  path: string[];
  /** Another file in the same folder that the tool prefers. If it exists, the setup changes that file. */
  beatenBy?: string;
};

/** A folder with a default, and the environment variable that moves it. */
type Folder = {
  variable: string | null;
  /** The path below the home folder ($HOME, %USERPROFILE%). */
  home: string[];
};

/** `json` is plain JSON without comments. Tools with `jsonc` accept comments and trailing commas. */
export type FileChange =
  | { format: "json" | "jsonc"; operations: JsonOperation[] }
  | { format: "toml"; operations: TomlOperation[] }
  | { format: "env"; operations: EnvOperation[] }
  | OwnFile;

/** Strings equal to `keyPlaceholder` become the key. Path names contain no spaces. */
export type JsonOperation =
  /** Creates missing parent objects, and replaces null ones. Rejects the file if a parent is any other value. */
  | { do: "set"; path: string[]; value: Json }
  /** Sets a missing value. */
  | { do: "default"; path: string[]; value: Json }
  | { do: "remove"; path: string[] }
  /**
   * In the array at `path`, removes the objects whose property `member` equals `is`, and appends `entries`. Creates
   * a missing array.
   */
  | { do: "replaceEntries"; path: string[]; member: string; is: string; entries: Json[] };

/** Strings equal to `keyPlaceholder` become the key. */
export type TomlOperation =
  /** The last part of the path is the key, and the others are the table. A missing table is appended. */
  | { do: "set"; path: string[]; value: string | number | boolean }
  /** Removes the tables directly below `path` whose name starts with `prefix`, except those in `keep`. */
  | { do: "removeTables"; path: string[]; prefix: string; keep: string[] };

/** A `NAME=value` line. A value equal to `keyPlaceholder` becomes the key. */
export type EnvOperation = { do: "set"; name: string; value: string };

/**
 * A file that the setup owns, with `\n` after each line. An existing file with the first line of `text` is
 * replaced. Any other file belongs to the user: the setup then writes `otherwise`, or fails if that is null.
 */
type OwnFile = { format: "own"; text: string; otherwise: FilePlace | null };

/** The variables that a tool reads from the environment. A value equal to `keyPlaceholder` becomes the key. */
export type PlannedEnvironment = {
  variables: Record<string, string>;
  /** Conflicting variables of older setups. */
  remove: string[];
  /** `always`: every new terminal loads them. `on-demand`: the user loads their file. */
  load: "always" | "on-demand";
};

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Replaces the key in a plan, so that plans do not depend on it. No validated text contains it. */
export const keyPlaceholder = "{{GATEWAY_API_KEY}}";
