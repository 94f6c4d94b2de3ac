/** Normalizes the spelling, so that one address is one user. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}
