import type { LimitHolder } from "../errors.ts";

/** What is limited, as the errors call it. */
export const limitSubjects: Readonly<Record<LimitHolder, string>> = {
  key: "this API key",
  person: "all API keys of this key's owner",
  gateway: "the whole gateway",
};
