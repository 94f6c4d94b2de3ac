import { availableParallelism, cpus, loadavg } from "node:os";
import { streamedText } from "./canned-answers.ts";

export type Round = { requestsPerSecond: number; cpuUsPerRequest: number };

export type Result = {
  name: string;
  stream: boolean;
  aim: number | null;
  bare: Round[];
  gateway: Round[];
};

/** Returns a table of the best rounds and the medians. The best rounds count, because other load only adds time. */
export function formatResults(results: Result[]): string {
  const rows = results.flatMap(({ name, stream, aim, bare, gateway }) => [
    [`${name}, bare node:http`, ...formatRounds(bare, stream), "1.00", "1.00", ""],
    [
      `${name}, gateway`,
      ...formatRounds(gateway, stream),
      (best(gateway) / best(bare)).toFixed(2),
      (median(gateway) / median(bare)).toFixed(2),
      aim === null ? "" : `≤ ${aim.toFixed(1)}`,
    ],
  ]);
  return formatTable([
    ["case", "requests/s", "CPU µs/request", "median", "µs/chunk", "× bare", "× median", "aim"],
    ...rows,
  ]);
}

export function machineFacts(): string {
  const load = loadavg()[0]?.toFixed(1);
  return `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), load ${load}, Node ${process.version}`;
}

function formatRounds(rounds: Round[], stream: boolean): string[] {
  const fastest = Math.max(...rounds.map((round) => round.requestsPerSecond));
  return [
    Math.round(fastest).toLocaleString("en"),
    best(rounds).toFixed(1),
    median(rounds).toFixed(1),
    stream ? (best(rounds) / streamedText.length).toFixed(2) : "",
  ];
}

function best(rounds: Round[]): number {
  return Math.min(...rounds.map((round) => round.cpuUsPerRequest));
}

export function median(rounds: Round[]): number {
  const sorted = rounds.map((round) => round.cpuUsPerRequest).toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function formatTable(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const formatCell = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(formatCell).join("  ").trimEnd()).join("\n");
}
