import { assembleWat } from "./assemble-wat.ts";
import { quote } from "./json.ts";

/** Validates JSON strings 16 bytes at a time, in a third of a loop's time. Only WebAssembly has vector instructions. */
export class TextScanner {
  #assembled: ReturnType<typeof assembleWat> | null = null;
  #escapes = 0;

  /** The number of escapes in the last string, or a few more. */
  get escapes(): number {
    return this.#escapes;
  }

  /** Returns the position of the closing quote, or null for an invalid string. */
  findEnd(bytes: Uint8Array, start: number, end: number): number | null {
    const { memory, run } = (this.#assembled ??= assembleWat(scan));
    this.#escapes = 0;
    let pieceBytes = firstPieceBytes;
    for (let at = start; at < end;) {
      const length = Math.min(end - at, pieceBytes);
      memory.set(bytes.subarray(at, at + length));
      // The scan ends at this control character.
      memory[length] = 0;
      const result = run();
      const stop = result & 0xffff;
      this.#escapes += result >>> 16;
      if (stop < length && bytes[at + stop] === quote) return at + stop;
      // An escape that continues in the next piece may be valid.
      if (stop === 0 || stop <= length - escapeBytesMax) return null;
      at += stop;
      pieceBytes = Math.min(pieceBytes * 8, pieceBytesMax);
    }
    return null;
  }
}

/** Small, because most strings are short, and a piece is copied before the end of its string is known. */
const firstPieceBytes = 256;
/** Leaves room in 64 KB of memory, because the scan also reads a few bytes beyond a piece. */
const pieceBytesMax = 48 * 1024;
const escapeBytesMax = 6;

function not(local: string): string {
  return `(i32.xor (local.get ${local}) (i32.const -1))`;
}

function splat(byte: number): string {
  return `(i8x16.splat (i32.const ${byte}))`;
}

function equal(character: string): string {
  return `(i8x16.eq (local.get $bytes) ${splat(character.charCodeAt(0))})`;
}

function below(bytes: string, limit: number): string {
  return `(i8x16.lt_u ${bytes} ${splat(limit)})`;
}

function hexDigits(offset: number): string {
  const bytes = `(v128.load offset=${offset} (local.get $at))`;
  const digits = below(`(i8x16.sub ${bytes} ${splat(0x30)})`, 10);
  const letters = below(`(i8x16.sub (v128.or ${bytes} ${splat(0x20)}) ${splat(0x61)})`, 6);
  return `(v128.or ${digits} ${letters})`;
}

/**
 * The result is not 0 for characters that may follow a backslash. Two tables contain the classes of a character, by its lower
 * and its upper four bits. The classes are 1 for 0x2_, 2 for 0x5_, 4 for 0x6_ and 8 for 0x7_.
 */
function escapeClasses(): string {
  const lower = `(v128.const i8x16 0 0 13 0 8 8 4 0 0 0 0 0 2 0 4 1)`;
  const upper = `(v128.const i8x16 0 0 1 0 0 2 4 8 0 0 0 0 0 0 0 0)`;
  return `(v128.and
    (i8x16.swizzle ${lower} (v128.and (local.get $bytes) ${splat(0x0f)}))
    (i8x16.swizzle ${upper} (i8x16.shr_u (local.get $bytes) (i32.const 4))))`;
}

const oddBits = "(i32.const 0xaaaaaaaa)";

/**
 * Returns the position of the first quote, control character or invalid escape in the lower 16 bits. The upper bits are the
 * number of escapes. In a set of bytes, bit n stands for byte n of 16.
 */
const scan = `
  (local $at i32) (local $bytes v128) (local $backslashes i32) (local $stops i32)
  (local $carry i32) (local $starts i32) (local $escaped i32) (local $invalid i32) (local $count i32)
  (loop
    (local.set $bytes (v128.load offset=0 (local.get $at)))
    (local.set $backslashes (i8x16.bitmask ${equal("\\")}))
    (local.set $stops (i8x16.bitmask (v128.or ${equal('"')} ${below("(local.get $bytes)", 0x20)})))
    (local.set $invalid (i32.const 0))
    (if (i32.or (local.get $backslashes) (local.get $carry)) (then
      ;; Every second backslash of a row starts an escape. A subtraction finds them without a loop:
      ;; https://github.com/simdjson/simdjson/blob/master/include/simdjson/generic/json_escape_scanner.h
      (local.set $starts (i32.and (local.get $backslashes) ${not("$carry")}))
      (local.set $starts (i32.xor
        (i32.sub (i32.or (i32.shl (local.get $starts) (i32.const 1)) ${oddBits}) (local.get $starts))
        ${oddBits}))
      (local.set $escaped (i32.and (i32.const 0xffff)
        (i32.xor (local.get $starts) (i32.or (local.get $backslashes) (local.get $carry)))))
      (local.set $starts (i32.and (local.get $starts) (local.get $backslashes)))
      (local.set $carry (i32.shr_u (local.get $starts) (i32.const 15)))
      (local.set $count (i32.add (local.get $count) (i32.popcnt (local.get $starts))))

      (local.set $stops (i32.and (local.get $stops) ${not("$escaped")}))
      (local.set $invalid (i8x16.bitmask (i8x16.eq ${escapeClasses()} ${splat(0)})))
      (local.set $invalid (i32.and (local.get $invalid) (local.get $escaped)))
      (local.set $escaped (i32.and (local.get $escaped) (i8x16.bitmask ${equal("u")})))
      (if (local.get $escaped) (then
        (local.set $escaped (i32.and (local.get $escaped)
          (i32.xor (i32.const -1) (i8x16.bitmask
            (v128.and (v128.and ${hexDigits(1)} ${hexDigits(2)}) (v128.and ${hexDigits(3)} ${hexDigits(4)}))))))
        (local.set $invalid (i32.or (local.get $invalid) (local.get $escaped)))))
      (local.set $stops (i32.or (local.get $stops) (local.get $invalid)))))
    (if (local.get $stops) (then
      (local.set $stops (i32.ctz (local.get $stops)))
      (return (i32.or (i32.shl (local.get $count) (i32.const 16))
        ;; An invalid escape starts at the byte before.
        (i32.sub (i32.add (local.get $at) (local.get $stops))
          (i32.and (i32.const 1) (i32.shr_u (local.get $invalid) (local.get $stops))))))))
    (local.set $at (i32.add (local.get $at) (i32.const 16)))
    (br 0))
  (unreachable)`;
