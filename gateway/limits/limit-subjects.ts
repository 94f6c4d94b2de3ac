import type { LimitScope } from "../../db/entities/usage-record.ts";

/** What is limited, as the errors call it. */
export const limitSubjects: Readonly<Record<LimitScope, string>> = {
  key: "this API key",
  person: "all API keys of this key's owner",
  gateway: "the whole gateway",
};
