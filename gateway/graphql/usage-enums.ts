import type { Builder } from "./builder.ts";

/** The schema's enums, with the domain's terms. */
export function usageEnums(builder: Builder) {
  return {
    UsageStatus: builder.enumType("UsageStatus", {
      values: ["SUCCEEDED", "FAILED", "CANCELLED", "INTERRUPTED"] as const,
    }),
    UsageDimension: builder.enumType("UsageDimension", {
      values: {
        API_KEY: { value: "apiKeyId" },
        MODEL: { value: "model" },
        PROVIDER: { value: "provider" },
        STATUS: { value: "status" },
      } as const,
    }),
    UsageInterval: builder.enumType("UsageInterval", {
      description: "In UTC.",
      values: { HOUR: { value: "hour" }, DAY: { value: "day" }, MONTH: { value: "month" } } as const,
    }),
    LimitScope: builder.enumType("LimitScope", {
      description: "Whose limit or budget.",
      values: {
        KEY: { value: "key", description: "The API key's own." },
        PERSON: { value: "person", description: "One that all API keys of the key's owner share." },
        GATEWAY: { value: "gateway", description: "One that all API keys share." },
      } as const,
    }),
  };
}

export type UsageEnums = ReturnType<typeof usageEnums>;
