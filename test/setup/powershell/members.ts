import { Char, Hash, List, Native, Pattern, toNumber, toRegExp, toStrings, toText } from "./values.ts";

const ordinal = Symbol("StringComparison.Ordinal");

export function readMember(object: unknown, name: string): unknown {
  if (object instanceof Hash) {
    const key = object.key(name);
    if (object.members.has(key)) return object.members.get(key);
  }
  if (object instanceof Native && name in object.members) return object.members[name];
  if (typeof object === "string" && name === "Length") return object.length;
  if (Array.isArray(object) && name === "Length") return object.length;
  if (object instanceof List && name === "Count") return object.items.length;
  throw new Error(`StrictMode: there is no ${name}.`);
}

export function readElement(object: unknown, index: unknown): unknown {
  if (object instanceof Hash) return object.members.get(object.key(index)) ?? null;
  const items = object instanceof List ? object.items : object;
  if (!Array.isArray(items)) throw new Error("StrictMode: this has no elements.");
  const place = toNumber(index);
  if (place < 0 || place >= items.length) throw new Error("StrictMode: there is no such element.");
  return items[place] as unknown;
}

export function callMethod(object: unknown, name: string, parameters: unknown[]): unknown {
  const [first, second] = parameters;
  if (object instanceof List && name === "Add") return void object.items.push(first);
  if (object instanceof List && name === "Insert")
    return void object.items.splice(toNumber(first), 0, second);
  if (object instanceof List && name === "ToArray") return [...object.items];
  if (object instanceof Native && object.methods[name]) return object.methods[name](...parameters);
  if (object instanceof Pattern && name === "Match") {
    const pattern = toRegExp(object.source, "y");
    pattern.lastIndex = checkPlace(toNumber(second), toText(first).length);
    const length = pattern.exec(toText(first))?.[0].length ?? 0;
    const match = new Hash(true);
    match.members.set("length", length);
    return match;
  }
  if (typeof object === "string") return callText(object, name, parameters);
  throw new Error(`No method ${name} is known.`);
}

function callText(text: string, name: string, parameters: unknown[]): unknown {
  const [first, second, third] = parameters;
  switch (name) {
    case "Substring": {
      const start = checkPlace(toNumber(first), text.length);
      const length = second === undefined ? text.length - start : toNumber(second);
      checkPlace(start + length, text.length);
      if (length < 0) throw new Error("A length below zero.");
      return text.substring(start, start + length);
    }
    case "IndexOf": {
      checkOrdinal(first, parameters);
      const start = typeof second === "number" ? checkPlace(second, text.length) : 0;
      const end = typeof third === "number" ? checkPlace(start + third, text.length) : text.length;
      return text.substring(0, end).indexOf(toText(first), start);
    }
    case "LastIndexOf":
      if (!(first instanceof Char)) throw new Error("LastIndexOf goes by a language.");
      return text.lastIndexOf(first.text, checkPlace(toNumber(second), text.length - 1));
    case "StartsWith":
      checkOrdinal(first, parameters);
      return text.startsWith(toText(first));
    case "EndsWith":
      checkOrdinal(first, parameters);
      return text.endsWith(toText(first));
    case "Contains":
      return text.includes(toText(first));
    case "TrimEnd":
      return text.replace(/\r+$/, "");
    case "Replace":
      return text.replaceAll(toText(first), () => toText(second));
    case "Split":
      if (toText(first).length !== 1) throw new Error("5.1 splits at each of these characters.");
      return text.split(toText(first));
  }
  throw new Error(`No method ${name} of texts is known.`);
}

export function callStatic(name: string, parameters: unknown[]): unknown {
  const [first, second, third, fourth] = parameters;
  switch (name) {
    case "string::Join": {
      const texts = toStrings(second);
      if (third === undefined) return texts.join(toText(first));
      return texts.slice(toNumber(third), toNumber(third) + toNumber(fourth)).join(toText(first));
    }
    case "string::Equals":
      checkOrdinal(first, parameters);
      return toText(first) === toText(second);
    case "regex::Split":
      return toText(first).split(toText(second));
    case "regex::Matches":
      return new Native({ Count: [...toText(first).matchAll(toRegExp(toText(second), "g"))].length });
    case "regex::Match": {
      const match = toRegExp(toText(second), "").exec(toText(first));
      return new Native({
        Success: match !== null,
        Groups: match?.map((Value) => new Native({ Value })) ?? [],
      });
    }
    case "Math::Min":
      return Math.min(toNumber(first), toNumber(second));
  }
  throw new Error(`No ${name} is known.`);
}

export function readStatic(name: string): unknown {
  if (name === "StringComparison::Ordinal") return ordinal;
  throw new Error(`No ${name} is known.`);
}

function checkOrdinal(text: unknown, parameters: unknown[]): void {
  if (text instanceof Char || parameters.at(-1) === ordinal) return;
  throw new Error("Without Ordinal this goes by a language.");
}

function checkPlace(place: number, length: number): number {
  if (place < 0 || place > length) throw new Error(`There is no place ${place} in a text of ${length}.`);
  return place;
}
