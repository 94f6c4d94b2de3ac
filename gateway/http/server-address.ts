import { StartError } from "../errors.ts";

/**
 * Converts an error from `listen` to a `StartError` with advice. Returns other errors unchanged.
 * @param prefix the start of the variables' names: `METRICS_` for `METRICS_PORT`
 */
export function toListenError(
  error: NodeJS.ErrnoException,
  { host, port }: { host: string; port: number },
  prefix: "" | "METRICS_" = "",
): Error {
  if (error.code === "EADDRINUSE") {
    const advice = `Set ${prefix}PORT to another port, or to 0 for any free port.`;
    return new StartError(`Port ${port} on ${host} is already in use. ${advice}`);
  }
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    const advice = `Set ${prefix}HOST to an address such as 127.0.0.1 or 0.0.0.0.`;
    return new StartError(`The host ${host} is not an address of this machine. ${advice}`);
  }
  return error;
}

/** IPv6 addresses need brackets in URLs. */
export function formatUrl(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
