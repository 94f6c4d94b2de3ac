import { applyEdits } from "./apply-edits.ts";

/** A client's own bytes with another model name; re-serialised where `modelRange` is null, because a member occurs twice. */
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
