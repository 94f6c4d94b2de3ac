/** The fields that were edited while saving. The response must not replace them. */
export function typedSince<Name extends string>(
  sent: Record<Name, string>,
  now: Record<Name, string>,
): Partial<Record<Name, string>> {
  const later: Partial<Record<Name, string>> = {};
  for (const name of Object.keys(now) as Name[]) if (now[name] !== sent[name]) later[name] = now[name];
  return later;
}
