import type { TestGateway } from "./test-gateway.ts";

/**
 * Runs a function in the next database write that locks a key's row, before the lock. Unsuitable for SQLite, which
 * allows one writer.
 */
export function runBeforeLock({ services: { database } }: TestGateway, run: () => Promise<void>): void {
  const write = database.write.bind(database);
  let isDone = false;
  // Background work also writes, so each write is watched until one reaches the lock.
  database.write = (work) =>
    write((repositories) => {
      const { apiKeys } = repositories;
      const nextRevision = apiKeys.nextRevision.bind(apiKeys);
      apiKeys.nextRevision = async (...change) => {
        if (!isDone) {
          isDone = true;
          database.write = write;
          await run();
        }
        return nextRevision(...change);
      };
      return work(repositories);
    });
}
