/**
 * The link of an invitation, or to a new password. Its token is in the fragment: browsers do not send one, so that no proxy
 * or load balancer logs it.
 */
export function formatJoinLink(consoleUrl: string, token: string): string {
  return `${consoleUrl}/join#token=${token}`;
}
