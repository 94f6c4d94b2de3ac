import { expectObject, expectString } from "../../wire/parameter-errors.ts";

export type Block = { type: string; fields: Record<string, unknown>; param: string };

/** @param content a string (short for one text block) or blocks */
export function toBlocks(content: unknown, param: string): Block[] {
  if (typeof content === "string") return [{ type: "text", fields: { text: content }, param }];
  return (Array.isArray(content) ? (content as unknown[]) : []).map((value, index) => {
    const at = `${param}[${index}]`;
    const fields = expectObject(value, at);
    return { type: expectString(fields["type"], `${at}.type`), fields, param: at };
  });
}
