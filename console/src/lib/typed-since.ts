/** The fields that say something else than when they were sent: an answer to that must not take their place. */
export function typedSince<Name extends string>(
  sent: Record<Name, string>,
  now: Record<Name, string>,
): Partial<Record<Name, string>> {
  const later: Partial<Record<Name, string>> = {};
  for (const name of Object.keys(now) as Name[]) if (now[name] !== sent[name]) later[name] = now[name];
  return later;
}
