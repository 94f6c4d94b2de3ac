import type { Builder } from "./builder.ts";

/** The schema's enums, with the words that the domain has for them. */
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
  };
}

export type UsageEnums = ReturnType<typeof usageEnums>;
