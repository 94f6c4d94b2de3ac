import type { TestGateway } from "./test-gateway.ts";

/**
 * Runs a function in the next database write, before the write locks a key's row. Unsuitable for SQLite, which
 * allows one writer.
 */
export function runBeforeLock({ services: { database } }: TestGateway, run: () => Promise<void>): void {
  const write = database.write.bind(database);
  database.write = (work) => {
    database.write = write;
    return write((repositories) => {
      const { apiKeys } = repositories;
      const nextRevision = apiKeys.nextRevision.bind(apiKeys);
      apiKeys.nextRevision = async (...change) => {
        await run();
        return nextRevision(...change);
      };
      return work(repositories);
    });
  };
}
