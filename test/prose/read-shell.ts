import { codeWord, type Text } from "./text.ts";

/** Returns the comments and messages of a shell script within a source file. Lines count from 0. */
export function readShell(script: string): Pick<Text, "line" | "kind" | "text">[] {
  return script.split("\n").flatMap((code, line) => {
    const [, comment] = /^\s*# (.*)$/.exec(code) ?? [];
    if (comment !== undefined) return { line, kind: "comment" as const, text: comment };
    return [...code.matchAll(/"([^"]*)"|'([^']*)'/g)]
      .map(([, double, single]) => (double ?? single ?? "").replaceAll(/\$\w+|\\n|%s/g, codeWord))
      .filter((text) => /^[A-Z][\w ,:.()-]*$/.test(text) && text.split(" ").length >= 4)
      .map((text) => ({ line, kind: "message" as const, text }));
  });
}
