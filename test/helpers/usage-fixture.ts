import type { UsageRecordRow } from "../../db/entities/usage-record.ts";
import type { Person } from "../../gateway/auth/person.ts";
import { randomUsage } from "./random-usage.ts";
import { seededRandom } from "./seeded-random.ts";
import type { TestGateway } from "./test-gateway.ts";

export const admin: Person = {
  id: "usr_admin",
  name: "Ada",
  email: "ada@example.com",
  role: "admin",
  sessionId: "ses_1",
};

/** Inserts records at random times of a period, and returns them newest first. `count` is also the random seed. */
export async function addUsage(
  { services }: TestGateway,
  count: number,
  { from, to, ownerId }: { from: Date; to: Date; ownerId?: string },
): Promise<UsageRecordRow[]> {
  const random = seededRandom(count);
  const world = { keys: 6, models: 5, providers: 3, owners: 3 };
  const records = Array.from({ length: count }, () => {
    const moment = new Date(from.getTime() + random.upTo(to.getTime() - from.getTime() - 1));
    const record = randomUsage(random, moment, world);
    return ownerId === undefined ? record : { ...record, ownerId };
  });
  await services.database.write(({ usageRecords }) => usageRecords.insertAll(records));
  return records.toSorted((one, other) => (one.id < other.id ? 1 : -1));
}
