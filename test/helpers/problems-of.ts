import { ConfigError, readConfig } from "../../gateway/config/config.ts";

export type Environment = Record<string, string>;

/** What is said about an environment, a line for each problem; empty when it is accepted. */
export function problemsOf(environment: Environment): string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message
      .split("\n")
      .slice(1)
      .map((line) => line.trim());
  }
}
