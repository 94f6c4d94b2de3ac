/** The fields that the user edited during a save. The response must not replace these edits. */
export function typedSince<Name extends string>(
  sent: Record<Name, string>,
  now: Record<Name, string>,
): Partial<Record<Name, string>> {
  const later: Partial<Record<Name, string>> = {};
  for (const name of Object.keys(now) as Name[]) if (now[name] !== sent[name]) later[name] = now[name];
  return later;
}
