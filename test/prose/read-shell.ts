import { codeWord, type Text } from "./text.ts";

type Found = Pick<Text, "line" | "kind" | "text">;

/** Returns the comments and messages of a shell script. Line numbers start at 0. */
export function readShell(script: string): Found[] {
  return script.split("\n").flatMap((code, line): Found[] => {
    const [, comment] = /^\s*# (.*)$/.exec(code) ?? [];
    if (comment !== undefined) return [{ line, kind: "comment", text: comment }];
    return [...code.matchAll(/"([^"]*)"|'([^']*)'/g)]
      .map(([, double, single]) => (double ?? single ?? "").replaceAll(/\$\w+|\\n|%s/g, codeWord))
      .filter((text) => /^[A-Z][\w ,:.()-]*$/.test(text) && text.split(" ").length >= 4)
      .map((text) => ({ line, kind: "message", text }));
  });
}
