import { readFileSync } from "node:fs";
import { queryDatabase } from "../helpers/query-database.ts";
import { cpuMicroseconds } from "./measured-process.ts";

/**
 * Returns a function that reads the CPU time of this process and the database server in microseconds. The
 * server must run locally on Linux.
 */
export async function databaseCpu(url: string): Promise<() => number> {
  if (url.startsWith("sqlite:")) return cpuMicroseconds;
  const [row] = await queryDatabase(url, "SELECT @@pid_file AS file");
  const pid = readFileSync(String(row?.["file"]), "utf8").trim();
  return () => cpuMicroseconds() + cpuOf(pid);
}

/** proc(5): fields 14 and 15 are user and system time in clock ticks, usually 10 ms. Field 2 may contain spaces. */
function cpuOf(pid: string): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
