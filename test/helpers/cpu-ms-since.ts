/** How much CPU time this process has used since then, in milliseconds: it does not grow while others have the core. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
