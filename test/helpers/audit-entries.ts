import type { AuditEntryRow } from "../../db/entities/audit-entry.ts";
import type { TestGateway } from "./test-gateway.ts";

/** Returns the entries newest first. */
export function auditEntries({ services }: TestGateway, limit = 1_000): Promise<AuditEntryRow[]> {
  const page = { fromId: "", beforeId: "~", limit };
  return services.database.read((repositories) => repositories.auditEntries.list(page));
}
