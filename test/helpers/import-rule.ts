import type { Import, SourceFile } from "./source-tree.ts";

/** Returns a rule about single imports. `breaks` returns whether `from` must not import `to`. */
export function importRule({ breaks, ...rule }: ImportRule): Rule {
  const findings = (sources: SourceFile[]): string[] =>
    sources.flatMap(({ path: from, imports }) =>
      imports
        .filter((imported) => breaks(from, imported.to, imported))
        .map(({ line, to, names }) => `${from}:${line} imports ${to} { ${names.join(", ")} }`),
    );
  return { ...rule, findings };
}

type ImportRule = Omit<Rule, "findings"> & { breaks: (from: string, to: string, how: Import) => boolean };

/**
 * `findings` returns one line per violation. `seeds` break the rule, so that a rule without effect is detected.
 * `permitted` files are similar, but valid.
 */
export type Rule = {
  title: string;
  findings: (files: SourceFile[]) => string[];
  seeds: Record<string, string>;
  permitted?: Record<string, string>;
};

/** Returns a rule that restricts packages to the listed files and folders. */
export function libraryRule(packages: string[], homes: string[]): Rule {
  return importRule({
    title: `${packages.join(", ")} only in ${homes.join(", ")}`,
    breaks: (from, to) => fromPackage(to, ...packages) && !inside(from, homes),
    seeds: Object.fromEntries(
      packages.map((name) => [`gateway/${name}.ts`, `import thing from "${name}/part";`]),
    ),
    permitted: Object.fromEntries(homes.map((home) => [home, `import "${packages[0]}";`])),
  });
}

/** Homes that end with `/` are folders, and the others are single files. */
export function inside(file: string, homes: string[]): boolean {
  return homes.some((home) => (home.endsWith("/") ? file.startsWith(home) : file === home));
}

export function folder(file: string, depth = 2): string {
  return file.split("/").slice(0, depth).join("/");
}

export function fromPackage(specifier: string, ...names: string[]): boolean {
  return names.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}
