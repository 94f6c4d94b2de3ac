import { StartError } from "../errors.ts";

/**
 * Why a server cannot listen, in words that say where, and what to set.
 * @param prefix what the names of the variables begin with that say where: `METRICS_PORT` is one of metrics
 */
export function toListenError(
  error: NodeJS.ErrnoException,
  { host, port }: { host: string; port: number },
  prefix: "" | "METRICS_" = "",
): Error {
  if (error.code === "EADDRINUSE") {
    const advice = `Set ${prefix}PORT to another one, or to 0 for any that is free.`;
    return new StartError(`Port ${port} of ${host} is in use already. ${advice}`);
  }
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    const advice = `Set ${prefix}HOST to one, such as 127.0.0.1 or 0.0.0.0.`;
    return new StartError(`The host ${host} is no address of this machine. ${advice}`);
  }
  return error;
}

/** Where a server that listens on this host and port is reached. An IPv6 address is in brackets in URLs only. */
export function formatUrl(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
