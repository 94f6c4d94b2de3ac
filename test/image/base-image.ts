import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { findProgram } from "../helpers/system-packages.ts";

/**
 * Fills an empty folder with the parts of `node:…-slim` that the Dockerfile needs. The files come from this machine,
 * because not every machine can pull images.
 */
export function fillBaseImage(folder: string): void {
  for (const name of [
    "app",
    "etc/ssl/certs",
    "proc",
    "root",
    "run",
    "tmp",
    "usr/local/etc",
    "var/tmp",
    "dev",
    "sys",
  ]) {
    mkdirSync(path.join(folder, name), { recursive: true });
  }
  writeFileSync(
    path.join(folder, "etc/passwd"),
    "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/tmp:/bin/sh\n",
  );
  writeFileSync(path.join(folder, "etc/group"), "root:x:0:\nnode:x:1000:\n");
  copyProgram(folder, process.execPath, "/usr/local/bin/node");
  for (const name of ["sh", "env", "mkdir", "rm", "find", "chown", "chmod"])
    copyProgram(folder, findProgram(name) ?? name, `/bin/${name}`);
  copyCLibrary(folder);
  mkdirSync(path.join(folder, "usr/bin"), { recursive: true });
  symlinkSync("/bin/env", path.join(folder, "usr/bin/env"));
  const npm = realpathSync(findProgram("npm") ?? "npm");
  cpSync(path.join(path.dirname(npm), ".."), path.join(folder, "usr/local/lib/node_modules/npm"), {
    recursive: true,
    dereference: true,
  });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", path.join(folder, "usr/local/bin/npm"));
}

/** Returns volumes for the build with the files that npm needs to reach its registry. */
export function npmVolumes(): string[] {
  const config = execFileSync("npm", ["config", "get", "globalconfig"], { encoding: "utf8" }).trim();
  const volumes = ["/etc/ssl/certs:/etc/ssl/certs:ro"];
  return existsSync(config) ? [...volumes, `${config}:/usr/local/etc/npmrc:ro`] : volumes;
}

function copyProgram(folder: string, program: string, target: string): void {
  copyInto(folder, program, target);
  for (const file of librariesOf(program)) copyInto(folder, file);
}

/** Copies parts of the C library that native packages may need in addition to the programs' libraries. */
function copyCLibrary(folder: string): void {
  const libc = librariesOf(process.execPath).find((file) => path.basename(file) === "libc.so.6") ?? "";
  for (const name of ["libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "libutil.so.1"]) {
    const file = path.join(path.dirname(libc), name);
    if (existsSync(file)) copyInto(folder, file);
  }
}

function librariesOf(program: string): string[] {
  const listed = execFileSync("ldd", [program], { encoding: "utf8" });
  return Array.from(listed.matchAll(/(?:=> )?(\/\S+) \(0x/g), ([, file = ""]) => file);
}

function copyInto(folder: string, file: string, target = file): void {
  const destination = path.join(folder, target);
  mkdirSync(path.dirname(destination), { recursive: true });
  copyFileSync(realpathSync(file), destination);
}

export function baseNameIn(dockerfile: string): string {
  return /^ARG BASE=(\S+)$/m.exec(readFileSync(dockerfile, "utf8"))?.[1] ?? "";
}
