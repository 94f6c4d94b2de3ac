import { badAnswer } from "../../wire/bad-answer.ts";
import type { ChunkChoice, ChunkDelta } from "../../wire/chat-completion.ts";

type CallPiece = NonNullable<ChunkDelta["tool_calls"]>[number];

/**
 * Puts each call's name first. Some servers stream the arguments before the name, which other APIs send with the
 * start of the call.
 */
export class NamedCalls {
  /** The calls whose name has arrived, and the joined pieces of the others, by choice and index. */
  readonly #named = new Set<string>();
  readonly #nameless = new Map<string, CallPiece>();
  #characters = 0;

  read(choice: ChunkChoice): void {
    const { delta, finish_reason: reason, index = 0 } = choice;
    const pieces = delta.tool_calls;
    if (pieces === undefined && (reason === null || this.#nameless.size === 0)) return;
    const ready = (pieces ?? []).flatMap((piece, position) =>
      this.#take(`${index} ${piece.index ?? position}`, piece),
    );
    // A call that never gets a name is for the dialect to report.
    const left = reason === null ? [] : this.#leftOf(index);
    if (ready.length + left.length > 0) delta.tool_calls = [...ready, ...left];
    else delete delta.tool_calls;
  }

  #take(key: string, piece: CallPiece): CallPiece[] {
    if (this.#named.has(key)) return [piece];
    const earlier = this.#nameless.get(key);
    const joined = earlier === undefined ? piece : join(earlier, piece);
    if (piece.function.name) {
      this.#named.add(key);
      this.#nameless.delete(key);
      return [joined];
    }
    this.#characters += piece.function.arguments.length;
    if (this.#characters > namelessCharactersMax) throw badAnswer("a tool call without a name");
    this.#nameless.set(key, joined);
    return [];
  }

  #leftOf(index: number): CallPiece[] {
    const keys = [...this.#nameless.keys()].filter((key) => key.startsWith(`${index} `));
    return keys.flatMap((key) => {
      const piece = this.#nameless.get(key);
      this.#nameless.delete(key);
      return piece ?? [];
    });
  }
}

function join(earlier: CallPiece, piece: CallPiece): CallPiece {
  const args = earlier.function.arguments + piece.function.arguments;
  return { ...earlier, ...piece, function: { ...piece.function, arguments: args } };
}

const namelessCharactersMax = 1024 * 1024;
