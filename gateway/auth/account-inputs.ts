import * as z from "zod";
import { roles } from "../../db/entities/user.ts";
import { quoting } from "../inputs.ts";

export const email = z
  .email(quoting("is not an email address. Use an address such as ada@example.com."))
  .max(254, "The email address has more than 254 characters. Use a shorter address.");

export const password = z
  .string()
  .min(10, "The password has fewer than 10 characters. Use 10 to 256 characters.")
  .max(256, "The password has more than 256 characters. Use 10 to 256 characters.");

/** The token of a link such as `/join#token=…`. */
export const linkToken = z.string().max(256);

export const role = z.enum(roles);
