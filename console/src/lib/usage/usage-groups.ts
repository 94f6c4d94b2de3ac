import type { ResultOf } from "gql.tada";
import { graphql, type UsageDimension } from "#lib/session/graphql-document.ts";
import { capitalize, failureWords, limitWords, type ErrorReason } from "./error-reasons.ts";
import { nameModel, noModelChoice, noOwnerChoice, noTeamChoice, otherClientsChoice } from "./model-name.ts";

/** The members that name a group. Members of other dimensions are null. */
export const usageGroupFields = graphql(`
  fragment UsageGroup on UsageSummaryRow {
    apiKeyId
    apiKeyName
    model
    provider
    status
    ownerId
    ownerName
    teamId
    teamName
    clientTool
    errorReason
  }
`);

type UsageGroup = ResultOf<typeof usageGroupFields>;

/** The groupings of the usage page, by their value in the URL. `filter` is the URL parameter that selects a group. */
export const groupings = {
  model: { dimension: "MODEL", label: "by model", title: "Model", filter: "model" },
  key: { dimension: "API_KEY", label: "by API key", title: "API key", filter: "key" },
  person: { dimension: "OWNER", label: "by person", title: "Person", filter: "person" },
  team: { dimension: "TEAM", label: "by team", title: "Team", filter: "team" },
  provider: { dimension: "PROVIDER", label: "by provider", title: "Provider", filter: "provider" },
  tool: { dimension: "TOOL", label: "by tool", title: "Tool", filter: "tool" },
  status: { dimension: "STATUS", label: "by status", title: "Status", filter: "status" },
  reason: { dimension: "ERROR_REASON", label: "by error reason", title: "Error reason", filter: "reason" },
} as const satisfies Record<
  string,
  { dimension: UsageDimension; label: string; title: string; filter: string }
>;

export type Grouping = keyof typeof groupings;

/** The groupings inside one group, most useful first. */
const insideOf: Record<Grouping, Grouping[]> = {
  model: ["key", "person", "tool", "provider"],
  key: ["model", "tool", "provider"],
  person: ["key", "model", "tool", "provider"],
  team: ["model", "key", "person", "tool"],
  provider: ["model", "key", "person", "tool"],
  tool: ["model", "key", "person", "provider"],
  status: ["model", "key", "person", "provider"],
  reason: ["model", "key", "person", "provider"],
};

/** The table's grouping within a selected group. A grouping whose filter is set would show one row. */
export function groupingInside(by: Grouping, unfiltered: Grouping[]): Grouping {
  return insideOf[by].find((name) => unfiltered.includes(name)) ?? by;
}

export function groupOf(row: UsageGroup, dimension: UsageDimension): { key: string; label: string } {
  const { apiKeyId, apiKeyName, model, provider, status, ownerId, ownerName, clientTool, errorReason } = row;
  const { teamId, teamName } = row;
  switch (dimension) {
    case "API_KEY":
      return { key: apiKeyId ?? "", label: apiKeyName ?? apiKeyId ?? "" };
    case "OWNER":
      return { key: ownerId ?? "", label: ownerName || ownerId || "Unassigned" };
    case "TEAM":
      return { key: teamId ?? "", label: teamName || teamId || "No team" };
    case "MODEL":
      return { key: model ?? "", label: nameModel(model) };
    case "TOOL":
      return { key: clientTool ?? "", label: nameTool(clientTool ?? "") };
    case "ERROR_REASON":
      return { key: errorReason ?? "", label: nameReason(errorReason ?? "") };
    case "STATUS":
      return { key: status ?? "", label: capitalize((status ?? "none").toLowerCase()) };
    case "PROVIDER":
      // Some requests never reached a provider.
      return { key: provider ?? "", label: provider || "none" };
  }
}

export function nameTool(tool: string): string {
  return tool === "" ? "Other clients" : tool;
}

export function nameReason(reason: string): string {
  const known = reason as ErrorReason;
  const words = failureWords(known) ?? limitWords(known);
  return reason === "" ? "No error" : capitalize(words ?? reason.replaceAll("_", " "));
}

/** The value in the URL that selects a group. Null if no value selects the group. */
export function choiceOf(key: string, dimension: UsageDimension): string | null {
  if (key !== "") return key;
  const choices: Partial<Record<UsageDimension, string>> = {
    MODEL: noModelChoice,
    OWNER: noOwnerChoice,
    TEAM: noTeamChoice,
    TOOL: otherClientsChoice,
  };
  return choices[dimension] ?? null;
}
