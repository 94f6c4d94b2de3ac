import type { Import, SourceFile } from "./source-tree.ts";

/** The import cycles among the files: for each, the imports along it, the last of which leads back to the first's file. */
export function importCycles(files: SourceFile[]): { from: string; imported: Import }[][] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const finished = new Set<string>();
  const cycles: { from: string; imported: Import }[][] = [];

  const visit = (file: SourceFile, trail: { from: string; imported: Import }[]): void => {
    for (const imported of file.imports) {
      const target = byPath.get(imported.to);
      if (!target || finished.has(target.path)) continue;
      const extended = [...trail, { from: file.path, imported }];
      const start = extended.findIndex((step) => step.from === target.path);
      if (start === -1) visit(target, extended);
      else cycles.push(extended.slice(start));
    }
    // Everything reachable from here has been walked: no later walk can find a new cycle through it.
    finished.add(file.path);
  };

  for (const file of files) if (!finished.has(file.path)) visit(file, []);
  return cycles;
}
