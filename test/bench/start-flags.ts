import manifest from "../../package.json" with { type: "json" };

export function startFlags(): string[] {
  return manifest.scripts.start.split(" ").filter((word) => word.startsWith("-"));
}
