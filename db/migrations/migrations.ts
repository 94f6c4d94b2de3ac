import { readdirSync } from "node:fs";
import type { MigrationInterface } from "typeorm";

type Migration = new () => MigrationInterface;

/** What the files with a number export, in the order of their names. A released migration must never change. */
export const migrations = await Promise.all(
  readdirSync(import.meta.dirname)
    .filter((file) => /^\d{4}-.*\.ts$/.test(file))
    .toSorted()
    .map(async (file) => {
      const exported = (await import(`./${file}`)) as Record<string, Migration>;
      const [migration] = Object.values(exported);
      if (migration === undefined) throw new Error(`${file} exports no migration.`);
      return migration;
    }),
);
