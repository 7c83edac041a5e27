/** Which users an identity provider asks for: one comparison (RFC 7644 §3.4.2.2). authorization.md §13. */
import { Either } from "effect"
import { attributeName, ScimInvalid } from "./ScimUser.js"

/** Users of exactly this name or address, without regard to case; in lower case. */
export type ScimFilter = { readonly username: string } | { readonly email: string }

/** Characters of a filter. */
const maximumLength = 1024

const comparison = /^\s*([^\s"()[\]]+)\s+([a-z]{2})\s+("(?:[^"\\]|\\.)*")\s*$/i

const attributes: Readonly<Record<string, "username" | "email">> = {
  username: "username",
  email: "email",
  emails: "email",
  "emails.value": "email"
}

const refused = (message: string): Either.Either<never, ScimInvalid> => Either.left(new ScimInvalid("invalidFilter", message))

const textOf = (literal: string): string | undefined => {
  try {
    return String(JSON.parse(literal))
  } catch {
    return undefined
  }
}

/** Reads a filter. Another comparison than equality is refused: an answer that leaves users out would be wrong. */
export const parseScimFilter = (filter: string): Either.Either<ScimFilter, ScimInvalid> => {
  if (filter.length > maximumLength) return refused(`The filter must be at most ${maximumLength} characters.`)
  const [, path = "", operator = "", literal = ""] = comparison.exec(filter) ?? []
  const value = textOf(literal)
  if (value === undefined) return refused('The filter must be one comparison with a text, such as userName eq "alice".')
  const name = attributeName(path)
  const attribute = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  if (attribute === undefined) return refused("Users are found by userName or email alone.")
  if (operator.toLowerCase() !== "eq") return refused(`Users are not found with the operator ${operator}.`)
  // No store holds this character
  if (value.includes("\0")) return refused("The value must not contain the character U+0000.")
  const wanted = value.toLowerCase()
  return Either.right(attribute === "username" ? { username: wanted } : { email: wanted })
}
