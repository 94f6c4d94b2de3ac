import type { Import, SourceFile } from "./source-tree.ts";

/**
 * Returns import cycles, each as a list of imports. The last import leads back to the first file. A cycle may be
 * missing if it shares an import with a returned one.
 */
export function importCycles<Imported extends Pick<Import, "to">>(
  files: Importer<Imported>[],
): Step<Imported>[][] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const finished = new Set<string>();
  const cycles: Step<Imported>[][] = [];

  const visit = (file: Importer<Imported>, trail: Step<Imported>[]): void => {
    for (const imported of file.imports) {
      const target = byPath.get(imported.to);
      if (!target || finished.has(target.path)) continue;
      const extended = [...trail, { from: file.path, imported }];
      const start = extended.findIndex((step) => step.from === target.path);
      if (start === -1) visit(target, extended);
      else cycles.push(extended.slice(start));
    }
    finished.add(file.path);
  };

  for (const file of files) if (!finished.has(file.path)) visit(file, []);
  return cycles;
}

type Importer<Imported> = { path: string; imports: Imported[] };

type Step<Imported> = { from: string; imported: Imported };

/**
 * Returns the cycles between second-level folders, such as `gateway/limits`, and between the subfolders of each. A
 * second-level file counts as a folder. A folder and its subfolders may import each other.
 */
export function folderCycles(files: SourceFile[]): Step<FolderImport>[][] {
  const siblings = new Set(files.map(({ path }) => path.split("/").slice(0, 2).join("/")));
  return [
    importCycles(joinFolders(files, (path) => path.split("/").slice(0, 2).join("/"))),
    ...[...siblings].map((parent) =>
      importCycles(joinFolders(files, (path) => subfolderOf(parent, path)).filter(({ path }) => path !== "")),
    ),
  ].flat();
}

type FolderImport = { to: string; file: string };

/** Merges the files of each folder into one, with their imports of other folders. */
function joinFolders(files: SourceFile[], folderOf: (path: string) => string): Importer<FolderImport>[] {
  const joined = new Map<string, Importer<FolderImport>>();
  for (const { path, imports } of files) {
    const folder = folderOf(path);
    const whole = joined.get(folder) ?? { path: folder, imports: [] };
    joined.set(folder, whole);
    for (const imported of imports) {
      const to = folderOf(imported.to);
      if (to !== folder) whole.imports.push({ to, file: path });
    }
  }
  return [...joined.values()];
}

/** Returns an empty string for a path outside of the parent or directly in it. */
function subfolderOf(parent: string, path: string): string {
  const [, , name, ...rest] = path.split("/");
  return path.startsWith(`${parent}/`) && rest.length > 0 ? `${parent}/${name}` : "";
}
