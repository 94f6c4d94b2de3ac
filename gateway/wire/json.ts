export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Empty for anything but an array. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Null for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Replaces the bytes from `start` to `end` with `text`. */
export type Edit = { start: number; end: number; text: string };

/** Edits must be in order and must not overlap. */
export function applyEdits(bytes: Buffer, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return bytes;
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end, text } of edits) {
    parts.push(bytes.subarray(from, start), Buffer.from(text));
    from = end;
  }
  parts.push(bytes.subarray(from));
  return Buffer.concat(parts);
}

/** The client's bytes with another model name. Re-serialized if `modelRange` is null, because a member occurs twice. */
export function spliceModel(
  {
    body,
    bytes,
    modelRange,
  }: { body: object; bytes: Buffer; modelRange: { start: number; end: number } | null },
  model: string,
): Buffer {
  if (modelRange === null) return Buffer.from(JSON.stringify({ ...body, model }));
  return applyEdits(bytes, [{ ...modelRange, text: JSON.stringify(model) }]);
}
