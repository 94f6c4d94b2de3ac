import { formatCount } from "#lib/format/numbers.ts";
import { endOf } from "#lib/keys/expiry.ts";
import { type LimitField, limitLabels, limitNames, type LimitTexts, toRanges } from "./limit-fields.ts";

/** A key's form also has an expiry. */
type FormField = LimitField | "expiresAt";

export type LimitProblems = Partial<Record<FormField, string>>;

type Typed = {
  texts: LimitTexts;
  lastDay: string;
  /** Whether the user changed the date. An unchanged past date is valid. */
  isNewDay: boolean;
  now: number;
};

const countMax = 2 ** 31 - 1;
const budgetMax = 1_000_000;
const rangesMax = 50;

/** Returns all problems at once. The gateway reports a past expiry only if all other fields are valid. */
export function findProblems({ texts, lastDay, isNewDay, now }: Typed): LimitProblems {
  const problems = findLimitProblems(texts);
  const end = endOf(lastDay);
  if (lastDay !== "" && end === null)
    problems.expiresAt = `The expiry date ${lastDay} is invalid. Choose another date.`;
  else if (isNewDay && end !== null && end <= now)
    problems.expiresAt = `The expiry date ${lastDay} is in the past. Choose a later date.`;
  return problems;
}

export function findLimitProblems(texts: LimitTexts): LimitProblems {
  const problems: LimitProblems = {};
  for (const name of limitNames) {
    const problem = findNumberProblem(texts[name].trim(), limitLabels[name].unit !== "");
    if (problem) problems[name] = problem;
  }
  const ranges = toRanges(texts.addressRanges);
  const wrong = ranges.filter((range) => !isAddressRange(range));
  if (wrong.length > 0) {
    const are = wrong.length === 1 ? "is not an IP address or range" : "are not IP addresses or ranges";
    problems.addressRanges = `${wrong.join(", ")} ${are}. Use IP addresses or ranges such as 10.0.0.0/8.`;
  } else if (ranges.length > rangesMax)
    problems.addressRanges = `The list has ${ranges.length} entries. Enter at most ${rangesMax} addresses or ranges.`;
  return problems;
}

/**
 * Finds the form's field for an error parameter such as "limits.budgetsUsd.day" or "limits.addressRanges.0".
 */
export function fieldOf(param: string | null): FormField | undefined {
  const fields: FormField[] = [...limitNames, "addressRanges", "expiresAt"];
  return fields.find((field) => param?.split(".").includes(field));
}

function findNumberProblem(text: string, isMoney: boolean): string | null {
  if (text === "") return null;
  // The pattern accepts thousands separators, but rejects "1,5", which could mean 1.5.
  const [, whole, rest = ""] = /^(\d+|\d{1,3}(?:[, ]\d{3})+)(\.\d+)?$/.exec(text) ?? [];
  const number = whole === undefined ? NaN : Number(whole.replace(/\D/g, "") + rest);
  if (isMoney) {
    if (Number.isNaN(number))
      return `"${text}" is not an amount. Enter US dollars, such as 12.50, or leave the field empty.`;
    return number > budgetMax
      ? `${text} is too large. Enter at most ${formatCount(budgetMax)} dollars.`
      : null;
  }
  if (rest !== "" || !(number >= 1))
    return `"${text}" is not a positive whole number. Enter a number such as 60, or leave the field empty.`;
  return number > countMax ? `${text} is too large. Enter at most ${formatCount(countMax)}.` : null;
}

/** Applies the gateway's rule. Browsers have no IP address parser, so the URL parser checks IPv6 addresses. */
function isAddressRange(text: string): boolean {
  const [, address = "", bits = "0"] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  if (/^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/.test(address)) {
    return Number(bits) <= 32;
  }
  return /^[\da-f:.]+$/i.test(address) && URL.canParse(`http://[${address}]`) && Number(bits) <= 128;
}
