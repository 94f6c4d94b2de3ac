/** Whether the URL's host is local or private, so that servers on the internet cannot reach it. */
export function isPrivateAddress(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname;
  if (host.startsWith("[")) return /^\[(::1?\]|f[cd]|fe[89ab])/.test(host);
  if (/^\d+(\.\d+){3}$/.test(host)) {
    return /^(0|10|127|192\.168|169\.254|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(
      host,
    );
  }
  return !host.includes(".") || /\.(local|lan|internal|home\.arpa|localhost|test)$/.test(host);
}
