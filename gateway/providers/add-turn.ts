type Turn<Block> = { role: "user" | "assistant"; content: Block[] };

/** Joins consecutive turns of one role, because the APIs require alternating turns. Omits empty turns. */
export function addTurn<Block>(turns: Turn<Block>[], { role, content }: Turn<NoInfer<Block>>): void {
  const last = turns.at(-1);
  if (last?.role === role) append(last.content, content);
  else if (content.length > 0) turns.push({ role, content });
}

/** Appends one by one, because a spread could exceed the maximum number of arguments. */
export function append<T>(list: T[], items: T[]): void {
  for (const item of items) list.push(item);
}
