import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { expectNumber, ifGiven } from "../../wire/expect-type.ts";
import type { ModelFamily } from "./model-family.ts";

export type Sampling = {
  temperature?: number | undefined;
  topP?: number | undefined;
  /** For `additionalModelRequestFields`, as Converse has no name for `top_k`. */
  fields: Record<string, unknown>;
};

/** How the model chooses its words. */
export function toSampling(body: ChatRequestBody, family: ModelFamily, claudeThinks: boolean): Sampling {
  const temperature = ifGiven(body["temperature"], "temperature", expectNumber);
  if (temperature !== undefined && temperature > 1) {
    throw unsupported("temperature", "Models on Bedrock take values from 0 to 1.");
  }
  const topP = ifGiven(body["top_p"], "top_p", expectNumber);
  const topK = ifGiven(body["top_k"], "top_k", expectNumber);
  switch (family.name) {
    case "claude":
      return claudeSampling({ temperature, topP, topK }, family.version, claudeThinks);
    // https://docs.aws.amazon.com/nova/latest/userguide/using-converse-api.html
    case "nova":
      return { temperature, topP, fields: topK === undefined ? {} : { inferenceConfig: { topK } } };
    default:
      return { temperature, topP, fields: {} };
  }
}

type Asked = Record<"temperature" | "topP" | "topK", number | undefined>;

/**
 * Newer Claudes refuse all of it, older ones while they think. A value of 1 is left out: it is 1 anyway, and some refuse
 * `temperature` and `top_p` together.
 */
function claudeSampling(asked: Asked, version: number, thinks: boolean): Sampling {
  const temperature = unlessOne(asked.temperature);
  const topP = unlessOne(asked.topP);
  const { topK } = asked;
  if (version >= 407) {
    refuse(
      { temperature, top_p: topP, top_k: topK },
      "This model chooses its words by itself; leave it out.",
    );
  } else if (thinks) {
    // https://platform.claude.com/docs/en/build-with-claude/extended-thinking#feature-compatibility
    const refused = { temperature, top_k: topK, top_p: topP !== undefined && topP < 0.95 ? topP : undefined };
    refuse(refused, "Claude does not take it while it thinks; leave it out, or leave out reasoning_effort.");
  }
  return { temperature, topP, fields: topK === undefined ? {} : { top_k: topK } };
}

function refuse(parameters: Record<string, number | undefined>, why: string): void {
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) throw unsupported(name, why);
  }
}

function unlessOne(value: number | undefined): number | undefined {
  return value === 1 ? undefined : value;
}
