import type { MatchLogic, ModelInfo } from "@pydantic/genai-prices";

/**
 * The package's rule for `claude-sonnet-5` also matches `claude-sonnet-5-5`. So the rest of the name must be
 * an edition, such as a date.
 */
export function findModel<Model extends ModelInfo>(models: readonly Model[], name: string): Model | null {
  const lowered = name.toLowerCase();
  // A `latest` alias may move to a model with another price.
  if (lowered.endsWith("-latest")) return null;
  for (const candidate of new Set([lowered, withoutEdition(withoutPath(lowered))])) {
    const found =
      models.find(({ match }) => fits(match, candidate, isExact)) ??
      models.find(({ match }) => fits(match, candidate, isClose));
    if (found) return found;
  }
  return null;
}

export function rulesOf(logic: MatchLogic): Rule[] {
  if ("or" in logic) return logic.or.flatMap(rulesOf);
  return "and" in logic ? logic.and.flatMap(rulesOf) : [logic];
}

type Rule = Exclude<MatchLogic, { or: MatchLogic[] } | { and: MatchLogic[] }>;

function fits(logic: MatchLogic, name: string, isMatch: (rule: Rule, name: string) => boolean): boolean {
  if ("or" in logic) return logic.or.some((part) => fits(part, name, isMatch));
  if ("and" in logic) return logic.and.every((part) => fits(part, name, isMatch));
  return isMatch(logic, name);
}

function isExact(rule: Rule, name: string): boolean {
  if ("equals" in rule) return rule.equals.toLowerCase() === name;
  return "regex" in rule && toExpression(rule.regex).test(name);
}

/** Compiles each expression only once, because many names are matched against many rules. */
function toExpression(source: string): RegExp {
  const known = expressions.get(source) ?? new RegExp(source, "i");
  expressions.set(source, known);
  return known;
}

const expressions = new Map<string, RegExp>();

function isClose(rule: Rule, name: string): boolean {
  if ("starts_with" in rule) return isEditionOf(name, rule.starts_with, 0);
  if ("contains" in rule) return isEditionOf(name, rule.contains, name.indexOf(rule.contains.toLowerCase()));
  if ("ends_with" in rule) return isEditionOf(name, rule.ends_with, name.length - rule.ends_with.length);
  return isExact(rule, name);
}

/**
 * Whether the name from `start` on differs from the literal only in its edition. A prefix must end with `.`,
 * `/` or `:`.
 */
function isEditionOf(name: string, literal: string, start: number): boolean {
  const wanted = literal.toLowerCase();
  if (start < 0 || !name.startsWith(wanted, start)) return false;
  const isWhole = start === 0 || /[./:]/.test(name.charAt(start - 1));
  return isWhole && withoutAnyEdition(name.slice(start)) === withoutAnyEdition(wanted);
}

/** Removes the path that Gemini, Vertex AI and Bedrock put before a model's name. */
function withoutPath(name: string): string {
  return name.replace(/^(?:models|publishers\/[^/]+\/models|arn:[^/]+)\//, "");
}

/**
 * Removes suffixes such as `-2026-03-05`, `-20250929`, `@default` and `-v1:0`. Editions without an entry of
 * their own have the model's price.
 */
function withoutEdition(name: string): string {
  return name.replace(/(?:@.*|-v\d+(?::\d+)?)$/, "").replace(/-20\d\d(?:-?\d\d){2}$/, "");
}

/**
 * Also removes `-2506`, `-001` and partial dates. Without a rule to compare with, they could be part of the
 * model's name.
 */
function withoutAnyEdition(name: string): string {
  return withoutEdition(name)
    .replace(/-(?:20\d{2,6}|2\d(?:0\d|1[0-2])|0\d{0,2}|\d\d-20\d\d)$/, "")
    .replace(/:\d+$/, "")
    .replace(/[-@]$/, "");
}
