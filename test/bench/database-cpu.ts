import { readFileSync } from "node:fs";
import { queryDatabase } from "../helpers/query-database.ts";
import { cpuMicroseconds } from "./measured-process.ts";

/**
 * The CPU time, in microseconds, that this process and the database's have taken so far: on a busy machine the only time
 * that says anything. The server has to run here, on Linux.
 */
export async function databaseCpu(url: string): Promise<() => number> {
  if (url.startsWith("sqlite:")) return cpuMicroseconds;
  const [row] = await queryDatabase(url, "SELECT @@pid_file AS file");
  const pid = readFileSync(String(row?.["file"]), "utf8").trim();
  return () => cpuMicroseconds() + cpuOf(pid);
}

/** proc(5): user and system time are the 14th and 15th field, in hundredths of a second; the 2nd may hold spaces. */
function cpuOf(pid: string): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
