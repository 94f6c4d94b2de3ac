import type { Repositories } from "../../db/database.ts";
import type { ChangeKind } from "../../db/entities/change.ts";

/** The change feed as services use it. The folder of the feed imports some of theirs. */
export type Changes = {
  /**
   * Makes a change in one transaction. Afterwards, this process has applied it too.
   * @param work returns the IDs of what changed, if anything did, and the result
   */
  edit<Result>(
    kind: ChangeKind,
    work: (
      repositories: Repositories,
    ) => Promise<[ids: string | readonly string[] | undefined, result: Result]>,
  ): Promise<Result>;
};
