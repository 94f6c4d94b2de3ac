import { ConfigError, readConfig } from "../../gateway/config/config.ts";

export type Environment = Record<string, string>;

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
