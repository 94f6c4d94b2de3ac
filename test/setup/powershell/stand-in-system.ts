import { createHash } from "node:crypto";
import * as fs from "node:fs";
import path from "node:path";
import { Native, Thrown, toText } from "./values.ts";

/**
 * The cmdlets, .NET members and variables that setup commands use. Files are real, and the gateway's response
 * is scripted.
 */
export type System = {
  statics: Record<string, (...parameters: unknown[]) => unknown>;
  commands: Record<string, (...parameters: unknown[]) => unknown>;
  variable(name: string): unknown;
  account: Map<string, string>;
  said: string[];
};

export type Answer = { status: number; text: string };

export function createStandInSystem(environment: Record<string, string>, answer: Answer): System {
  const account = new Map<string, string>();
  const said: string[] = [];
  return {
    account,
    said,
    variable: (name) => {
      if (name.startsWith("env:")) return environment[name.slice(4).toUpperCase()] ?? null;
      return name === "executioncontext" ? executionContext : name === "lastexitcode" ? 0 : undefined;
    },
    statics: {
      ...fileStatics,
      ...textStatics,
      ...webStatics(answer),
      ...environmentStatics(environment, account),
    },
    commands: {
      "Write-Host": (text) => void said.push(toText(text)),
      "Write-Output": (value) => value,
      "Set-StrictMode": () => undefined,
      "Get-Command": () => null,
      "Get-Item": getItem,
      "Test-Path": (file) => stat(toText(file)) !== undefined,
      "Read-Host": () => environment["TYPED"] ?? "",
      chmod: (mode, file) => fs.chmodSync(toText(file), Number.parseInt(toText(mode), 8)),
    },
  };
}

const session = new Native({
  LanguageMode: "FullLanguage",
  Path: new Native({}, { GetUnresolvedProviderPathFromPSPath: (place) => path.resolve(toText(place)) }),
});
const executionContext = new Native({ SessionState: session });

/** Converts file errors to exceptions that a setup command can catch. */
function files(action: (...names: string[]) => unknown): (...parameters: unknown[]) => unknown {
  return (...parameters) => {
    try {
      return action(...parameters.filter((each) => typeof each === "string"));
    } catch (error) {
      throw new Thrown(String(error));
    }
  };
}

function stat(file: string): fs.Stats | undefined {
  return fs.statSync(file, { throwIfNoEntry: false });
}

function getItem(file: unknown): unknown {
  const stats = fs.lstatSync(toText(file), { throwIfNoEntry: false });
  if (!stats) return null;
  const isLink = stats.isSymbolicLink();
  return new Native({
    LinkType: isLink ? "SymbolicLink" : null,
    Target: isLink ? fs.readlinkSync(toText(file)) : null,
    IsReadOnly: (stats.mode & 0o200) === 0,
  });
}

const fileStatics: System["statics"] = {
  "IO.File::Exists": files((file = "") => stat(file)?.isFile() ?? false),
  "IO.File::ReadAllBytes": files((file = "") => fs.readFileSync(file)),
  "IO.File::WriteAllBytes": (file, bytes) =>
    files((name = "") => fs.writeFileSync(name, bytes instanceof Uint8Array ? bytes : ""))(file),
  "IO.File::WriteAllText": (file, text) =>
    files((name = "") => fs.writeFileSync(name, `\ufeff${toText(text)}`))(file),
  "IO.File::Copy": files((from = "", to = "") => fs.copyFileSync(from, to, fs.constants.COPYFILE_EXCL)),
  "IO.File::Delete": files((file = "") => fs.rmSync(file, { force: true })),
  "IO.File::Move": files((from = "", to = "") => {
    if (stat(to)) throw new Error("There is a file already.");
    fs.renameSync(from, to);
  }),
  "IO.File::Replace": files((from = "", to = "") => {
    if (!stat(to)) throw new Error("There is no file.");
    fs.renameSync(from, to);
  }),
  "IO.Directory::Exists": files((folder = "") => stat(folder)?.isDirectory() ?? false),
  "IO.Directory::Delete": files((folder = "") => fs.rmdirSync(folder)),
  "IO.Directory::CreateDirectory": files((folder = "") => fs.mkdirSync(folder)),
  "IO.Directory::GetFileSystemEntries": files((folder = "") => fs.readdirSync(folder)),
  "IO.Path::Combine": (one, other) => path.resolve(toText(one), toText(other)),
  "IO.Path::GetDirectoryName": (file) => path.dirname(toText(file)),
  "IO.Path::GetFullPath": (file) => path.resolve(toText(file)),
  "IO.Path::DirectorySeparatorChar": () => "/",
};

function encoding(name: BufferEncoding): Native {
  return new Native(
    {},
    {
      GetBytes: (text) => Buffer.from(toText(text), name),
      GetString: (bytes) => (bytes as Buffer).toString(name),
    },
  );
}

const hash = new Native(
  {},
  {
    ComputeHash: (bytes) =>
      createHash("sha256")
        .update(bytes as Buffer)
        .digest(),
  },
);

const textStatics: System["statics"] = {
  "Text.Encoding::GetEncoding": () => encoding("latin1"),
  "Text.Encoding::UTF8": () => encoding("utf8"),
  "BitConverter::ToString": (bytes) => (bytes as Buffer).toString("hex").toUpperCase(),
  "Security.Cryptography.SHA256::Create": () => hash,
  "NullString::Value": () => null,
  "Globalization.CultureInfo::InvariantCulture": () => null,
  "DateTime::Now": () => new Native({}, { ToString: () => "20261121190000" }),
};

function environmentStatics(
  environment: Record<string, string>,
  account: Map<string, string>,
): System["statics"] {
  return {
    "Environment::NewLine": () => "\r\n",
    "Environment::GetFolderPath": () => "",
    "Environment::GetEnvironmentVariable": (name, whose) =>
      (whose === "User" ? account.get(toText(name)) : environment[toText(name)]) ?? null,
    "Environment::SetEnvironmentVariable": (name, value) => {
      if (value === null) account.delete(toText(name));
      else account.set(toText(name), toText(value));
    },
  };
}

/** `GetResponse` throws for statuses from 400, and for status 0, which means no response. */
function webStatics({ status, text }: Answer): System["statics"] {
  const reader = new Native(
    {},
    {
      ReadBlock: (letters) => {
        (letters as Native).members["text"] = text;
        return text.length;
      },
    },
  );
  const response = new Native(
    { StatusCode: status, reader },
    { GetResponseStream: () => reader, Close: () => undefined },
  );
  const request = new Native(
    { Headers: new Native({}, { Add: () => undefined }) },
    {
      GetResponse: () => {
        if (status > 0 && status < 400) return response;
        const inner = new Native({
          Message: text,
          Response: status > 0 ? response : null,
          InnerException: null,
        });
        inner.kind = "Net.WebException";
        throw new Thrown("Exception calling GetResponse", inner);
      },
    },
  );
  return {
    "Net.ServicePointManager::SecurityProtocol": () => 0,
    "Net.WebRequest::Create": () => request,
    "string::new": (letters) => (letters as Native).members["text"],
  };
}
