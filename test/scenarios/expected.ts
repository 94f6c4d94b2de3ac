import type { Asked, Part } from "../helpers/native-upstreams/native-upstream.ts";
import type { Outcome, ScenarioClient } from "./scenario-client.ts";
import { type Failure, plainUsage, type Step } from "./step.ts";
import type { Vendor } from "./vendors.ts";

export type Play = { client: ScenarioClient; vendor: Vendor; stream: boolean };

export function expectedOutcome(step: Step, { client, vendor, stream }: Play): Outcome | Failure {
  const { request, outcome } = step;
  // The gateway passes a native request unchanged, and the vendor rejects it.
  const isNative = client.dialect === "messages" && vendor.form.kind === "anthropic";
  if (isNative && vendor.takesNoTemperature && request.temperature !== undefined) {
    return { failure: { status: 400, message: "temperature" } };
  }
  if (isNative && vendor.takesNoForcedTool && request.mustCall !== undefined) {
    return { failure: { status: 400, message: "tool_choice" } };
  }
  if ("failure" in outcome) return outcome;
  const expected = { text: [], reasoning: "", calls: [], finish: "stop", usage: plainUsage, ...outcome };
  const [first, ...later] = answersOf(step);
  if (vendor.thinksOnceATurn && later.length > 0) {
    expected.reasoning = first?.thoughts?.join("") ?? "";
    expected.usage = { ...expected.usage, thinking: 0 };
  }
  if (vendor.countsNoThoughts) expected.usage = { ...expected.usage, thinking: 0 };
  if (stream) return expected;
  const texts = answersOf(step).map(({ text = [] }) => text.join(""));
  return { ...expected, text: texts.filter((text) => text !== "") };
}

function answersOf({ answers }: Step) {
  return answers.flatMap((answer) => (answer instanceof Error ? [] : [answer]));
}

export function expectedAsked(step: Step, { client, vendor }: Play): Partial<Asked> {
  const asked = { ...step.asked };
  if (vendor.takesNoTemperature) delete asked.temperature;
  if (vendor.takesNoForcedTool && step.request.mustCall !== undefined) {
    // An instruction at the end of the conversation replaces the forced tool.
    delete asked.forcedTool;
    delete asked.turns;
  }
  if (vendor.takesNoSchema && step.request.schema !== undefined) {
    // An instruction contains the schema.
    asked.schema = null;
    asked.system = `Respond with a JSON object that matches this JSON schema and nothing else, without a code fence:\n${JSON.stringify(step.request.schema)}`;
  }
  if (client.hasNoStop && asked.stop !== undefined) asked.stop = [];
  if (asked.turns === undefined) return asked;
  const getsThoughts = vendorGetsThoughts(client, vendor);
  const first = answersOf(step)[0]?.thoughts?.join("");
  const isThere = (part: Part) =>
    !("thought" in part) || (getsThoughts && (!vendor.thinksOnceATurn || part.thought === first));
  const toPart = (part: Part) =>
    vendor.takesNoEmptyResults && "result" in part && part.result === ""
      ? { ...part, result: "(empty)" }
      : part;
  return {
    ...asked,
    turns: asked.turns.map(({ role, parts }) => {
      // Gemini's signature on a call also restores the thoughts before the call.
      const isSealedByCall =
        client.returnsCallSignatures && vendor.form.kind === "gemini" && parts.some((part) => "call" in part);
      return { role, parts: (isSealedByCall ? parts : parts.filter(isThere)).map(toPart) };
    }),
  };
}

function vendorGetsThoughts({ dialect, returnsDetails }: ScenarioClient, vendor: Vendor): boolean {
  if (vendor.takesThoughts === "as text") return true;
  const isNative = dialect === "chat" || (dialect === "responses" && vendor.responsesForm !== undefined);
  return vendor.takesThoughts === "sealed" ? returnsDetails : isNative;
}
