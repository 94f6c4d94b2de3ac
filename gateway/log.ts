import { type Logger, pino } from "pino";

/**
 * Loggers take fields first, then the message: `log.warn({ error }, "could not …")`. Fields never contain
 * prompts, responses or secrets.
 */
export type Log = Pick<Logger, "debug" | "info" | "warn" | "error">;

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export type LogDestination = { write(line: string): void };

export function createLog(level: LogLevel, destination: LogDestination): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: describeError },
  };
  return pino(options, destination);
}

/**
 * Writes JSON lines to standard error, or readable text to a terminal. Standard output is for printed
 * results.
 */
export function standardLogDestination(stream: NodeJS.WriteStream = process.stderr): LogDestination {
  if (!stream.isTTY) return pino.destination({ dest: 2, sync: true });
  return {
    write(line) {
      const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
      const rest = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : "";
      stream.write(`${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(msg)}${rest}\n`);
    },
  };
}

/**
 * Describes an error by name, code and stack frames. Includes messages of the gateway's own errors only,
 * because those of drivers can contain queries, headers or bodies.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  const isOurs = error.name === "GatewayError" || error.name === "DatabaseUnavailableError";
  return {
    name: error.name,
    ...(typeof code === "string" && { code }),
    ...(isOurs && { message: error.message }),
    at: error.stack
      ?.split("\n")
      .filter((line) => line.startsWith("    at "))
      .slice(0, 6)
      .map((line) => line.trim()),
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  };
}
