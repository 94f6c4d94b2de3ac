import { GatewayError } from "../errors.ts";
import { type AddressGuard, hostAndPortOf, portOf } from "../upstream/address-guard.ts";
import { howToAllow } from "../upstream/explain-failure.ts";

/**
 * The base URL of an upstream as it is stored. Throws `invalid_value` for one that could never be called, so that it is
 * said when it is entered; the address that is really dialled is checked again each time.
 */
export async function checkBaseUrl(text: string | null, guard: AddressGuard): Promise<string> {
  if (text === null)
    throw new GatewayError("missing_required_parameter", "A provider of this kind needs a base URL.", {
      param: "baseUrl",
    });
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw refused("is not a URL such as https://api.openai.com/v1");
  }
  if (url.username !== "" || url.password !== "") throw refused("must not hold a user name or password");
  if (url.hash !== "") throw refused("must not have a fragment (#…)");
  if (!guard.allowsPrivate(url.hostname, portOf(url))) {
    if (guard.refusesLiteral(url.hostname) || (await guard.resolvesToPrivate(url.hostname))) {
      throw refused(`is a private address. ${howToAllow(hostAndPortOf(url))}`);
    }
    if (url.protocol === "http:")
      throw refused("must use https, or the credential would travel in the clear");
  }
  return text.replace(/\/+$/, "");
}

function refused(why: string): GatewayError {
  return new GatewayError("invalid_value", `The base URL ${why}.`, { param: "baseUrl" });
}
