import type { ChatRequestBody } from "../wire/chat-completion.ts";
import { isObject } from "../wire/json.ts";
import { unsupported } from "../wire/parameter-errors.ts";

/** A parameter without an equivalent, and the values that have no effect. */
export type Inexpressible = readonly [param: string, isNeutral: (value: unknown) => boolean, why: string];

export function refuseParameters(body: ChatRequestBody, inexpressible: readonly Inexpressible[]): void {
  for (const [param, isNeutral, why] of inexpressible) {
    const value = body[param];
    if (value !== undefined && value !== null && !isNeutral(value)) throw unsupported(param, why);
  }
}

export function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

export function isTextOnly(value: unknown): boolean {
  return Array.isArray(value) && value.every((modality) => modality === "text");
}

export function is(neutral: unknown): (value: unknown) => boolean {
  return (value) => value === neutral;
}

/** `isNeutral` for a parameter that always has an effect. */
export function never(): boolean {
  return false;
}
