import manifest from "../../package.json" with { type: "json" };

/** Returns the flags of `npm start`. */
export function startFlags(): string[] {
  return manifest.scripts.start.split(" ").filter((word) => word.startsWith("-"));
}
