import { type Logger, pino } from "pino";

/**
 * Pass fields before the message: `log.warn({ error }, "cannot …")`. Fields must not contain prompts, responses
 * or secrets.
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

/** Omits the messages of most errors, because a driver's message can contain a query, headers or a body. */
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
