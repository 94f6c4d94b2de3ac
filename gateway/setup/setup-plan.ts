/** The changes that set up a tool, independent of the shell. A second run must change nothing. */
export type SetupPlan = {
  /** The tool's ID, which is also part of file names. */
  tool: string;
  toolName: string;
  /** The script reports this program if the PATH lacks it. */
  program?: string;
  /** A command that installs the tool. Without it, the script refers to the tool's documentation. */
  install?: string;
  /** If one file cannot be merged, the setup writes no file. */
  files: PlannedFile[];
  environment?: PlannedEnvironment;
  /** The base URL without a trailing slash or `/v1`. */
  baseUrl: string;
  /** The selected models, without duplicates. The script reports each model that the key cannot use. */
  slugs: string[];
  /** The user's next step, as plain text. */
  next: string;
};

/** The setup creates a missing file and its folders, and restricts the file's permissions to protect the key. */
export type PlannedFile = FilePlace & FileChange;

export type FilePlace = {
  folder: Folder;
  /** The path below the folder, with the file name last. Parts contain no slash. */
  path: string[];
  /** The tool prefers a file with this name in the same folder. If that file exists, the setup changes it. */
  beatenBy?: string;
};

/** `variable` names the environment variable that overrides the default folder, `home`. */
type Folder = {
  variable: string | null;
  /** The path below the home folder ($HOME, %USERPROFILE%). */
  home: string[];
};

/** `jsonc` is JSON with comments and trailing commas. */
export type FileChange =
  | { format: "json" | "jsonc"; operations: JsonOperation[] }
  | { format: "toml"; operations: TomlOperation[] }
  | { format: "env"; operations: EnvOperation[] }
  | OwnFile;

export type JsonOperation =
  /** Replaces a missing or null parent with an object. Rejects the file if a parent is any other non-object. */
  | { do: "set"; path: string[]; value: Json }
  /** Keeps an existing value. */
  | { do: "default"; path: string[]; value: Json }
  | { do: "remove"; path: string[] }
  /**
   * In the array at `path`, removes the objects whose property `member` equals `is`, and appends `entries`. Creates
   * a missing array.
   */
  | { do: "replaceEntries"; path: string[]; member: string; is: string; entries: Json[] };

export type TomlOperation =
  /** The last part of `path` is the key, and the parts before it name the table. Appends a missing table. */
  | { do: "set"; path: string[]; value: string | number | boolean }
  /** Removes each table below `path` whose name starts with `prefix`, except the names in `keep`. */
  | { do: "removeTables"; path: string[]; prefix: string; keep: string[] };

export type EnvOperation = { do: "set"; name: string; value: string };

/**
 * The setup replaces an existing file only if its first line equals the first line of `text`. If the lines
 * differ, the setup writes to `otherwise`, or fails without it.
 */
type OwnFile = { format: "own"; text: string; otherwise?: FilePlace };

export type PlannedEnvironment = {
  variables: Record<string, string>;
  /** The names of variables that would conflict with `variables`. */
  remove: string[];
  /** With `always`, new terminals load the variables. With `on-demand`, the user loads a file with them. */
  load: "always" | "on-demand";
};

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Stands for the key in the texts and values of a plan. Validated slugs and URLs cannot contain it. */
export const keyPlaceholder = "{{GATEWAY_API_KEY}}";
