/**
 * Assembles a WebAssembly function without parameters, with 64 KB of memory, from the text of its body. Supports `if`, `loop`
 * and the instructions in `opcodes`, in folded form. https://webassembly.github.io/spec/core/text/instructions.html
 */
export function assembleWat(text: string): { run: () => number; memory: Uint8Array } {
  const nodes = parse(text);
  const declarations = nodes.filter(([name]) => name === "local");
  const locals = new Map(declarations.map(([, name], index) => [name, index]));
  const body = nodes.filter(([name]) => name !== "local").flatMap((node) => emit(node, locals));
  const types = declarations.flatMap(([, , type]) => [1, type === "v128" ? v128Type : i32Type]);
  const code = [...unsigned(locals.size), ...types, ...body, end];
  const module = [
    ...Buffer.from("\0asm\x01\0\0\0"),
    ...section(1, [[0x60, 0, 1, i32Type]]),
    ...section(3, [[0]]),
    ...section(5, [[0, 1]]),
    ...section(7, [exported("run", 0), exported("memory", 2)]),
    ...section(10, [[...unsigned(code.length), ...code]]),
  ];
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(module)));
  return { run: exports.run, memory: new Uint8Array(exports.memory.buffer) };
}

type Node = (string | Node)[];

function parse(text: string): Node[] {
  const root: Node = [];
  const open = [root];
  for (const [token] of text.replaceAll(/;;.*/g, "").matchAll(/[()]|[^\s()]+/g)) {
    if (token === ")") open.pop();
    else if (token !== "(") open.at(-1)?.push(token);
    else {
      const node: Node = [];
      open.at(-1)?.push(node);
      open.push(node);
    }
  }
  return root.filter((node) => typeof node !== "string");
}

function emit([first, ...rest]: Node, locals: ReadonlyMap<unknown, number>): number[] {
  const name = String(first);
  const operands = rest.flatMap((each) => (typeof each === "string" ? [] : emit(each, locals)));
  if (name === "if") return operands;
  if (name === "then") return [0x04, noResult, ...operands, end];
  if (name === "loop") return [0x03, noResult, ...operands, end];
  const opcode = opcodes[name];
  if (!opcode) throw new Error(`The instruction ${name} is not supported.`);
  const words = rest.filter((each) => typeof each === "string");
  return [...operands, ...opcode, ...emitImmediates(name, words, locals)];
}

function emitImmediates(name: string, words: string[], locals: ReadonlyMap<unknown, number>): number[] {
  const [first = ""] = words;
  switch (name) {
    case "local.get":
    case "local.set":
      return [locals.get(first) ?? NaN];
    case "br":
      return [Number(first)];
    case "i32.const":
      return signed(Number(first) | 0);
    case "v128.const":
      return words.slice(1).map(Number);
    case "v128.load":
      return [0, Number(first.replace("offset=", ""))];
    default:
      return [];
  }
}

/** https://webassembly.github.io/spec/core/appendix/index-instructions.html */
const opcodes: Readonly<Record<string, readonly number[]>> = {
  unreachable: [0x00],
  br: [0x0c],
  return: [0x0f],
  "local.get": [0x20],
  "local.set": [0x21],
  "i32.const": [0x41],
  "i32.ctz": [0x68],
  "i32.popcnt": [0x69],
  "i32.add": [0x6a],
  "i32.sub": [0x6b],
  "i32.and": [0x71],
  "i32.or": [0x72],
  "i32.xor": [0x73],
  "i32.shl": [0x74],
  "i32.shr_u": [0x76],
  "v128.load": [0xfd, 0x00],
  "v128.const": [0xfd, 0x0c],
  "i8x16.swizzle": [0xfd, 0x0e],
  "i8x16.splat": [0xfd, 0x0f],
  "i8x16.eq": [0xfd, 0x23],
  "i8x16.lt_u": [0xfd, 0x26],
  "v128.and": [0xfd, 0x4e],
  "v128.or": [0xfd, 0x50],
  "i8x16.bitmask": [0xfd, 0x64],
  "i8x16.shr_u": [0xfd, 0x6d],
  "i8x16.sub": [0xfd, 0x71],
};

function section(id: number, entries: number[][]): number[] {
  const content = [...unsigned(entries.length), ...entries.flat()];
  return [id, ...unsigned(content.length), ...content];
}

function exported(name: string, kind: number): number[] {
  return [name.length, ...Buffer.from(name), kind, 0];
}

/** Encodes an integer with 7 bits per byte, the lowest bits first: https://en.wikipedia.org/wiki/LEB128 */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}

const i32Type = 0x7f;
const v128Type = 0x7b;
const noResult = 0x40;
const end = 0x0b;

// TypeScript declares `WebAssembly` for browsers only.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: { run: () => number; memory: { buffer: ArrayBuffer } } };
};
