/** Where a server that listens on this host and port is reached. An IPv6 address is in brackets in URLs only. */
export function formatUrl(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
