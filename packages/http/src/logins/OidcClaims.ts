/** The identity that an OpenID Connect provider's claims describe. Everything here is pure. identity.md §7.3. */
import { emailViolation, isSameAddress, type LinkClaims, type VerifiedIdentity } from "@atelier/core/identity"
import { Forbidden, Invalid } from "@atelier/core/platform"
import { Either } from "effect"

export type Claims = Readonly<Record<string, unknown>>

/** The claims that are read, and their rules. */
export interface ClaimRules {
  readonly username_field: string
  readonly name_field: string
  readonly email_field: string
  /** Domains of addresses, with or without an `@` before them; none admits all. */
  readonly email_domain: ReadonlyArray<string>
  readonly ignore_email_verified: boolean
}

const textOf = (claims: Claims, field: string): string => {
  const value = claims[field]
  return typeof value === "string" ? value : ""
}

const isYes = /^(?:1|t|T|TRUE|true|True)$/

/** Whether the provider says that the address is the user's; what it does not say clearly, it does not say. */
const isVerified = (claim: unknown): boolean =>
  typeof claim === "boolean" ? claim : typeof claim === "number" ? claim !== 0 : typeof claim === "string" && isYes.test(claim)

/** Whether the address is of one of the domains. */
const isInDomain = (email: string, domains: ReadonlyArray<string>): boolean => {
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase()
  return domains.length === 0 || domains.some((allowed) => allowed.trim().replace(/^@/, "").toLowerCase() === domain)
}

/** The address that the claims name, or else a username that is one. */
const emailOf = (claims: Claims, { email_field, username_field }: ClaimRules): Either.Either<string, Invalid> => {
  const claim = claims[email_field]
  if (claim !== undefined && claim !== null && typeof claim !== "string") {
    return Either.left(new Invalid({ message: "The provider's claim of an e-mail address is not a string." }))
  }
  const email = claim || textOf(claims, username_field)
  if (emailViolation(email) === undefined) return Either.right(email)
  return Either.left(new Invalid({ message: "The provider did not tell your e-mail address." }))
}

/** Whether the address counts as the user's: what a set of claims says is verified is the address in that set, not one from another. */
const isVerifiedAddress = (
  email: string,
  { id_token_claims, merged_claims, user_info_claims }: LinkClaims,
  { email_field }: ClaimRules
): boolean =>
  isVerified(merged_claims["email_verified"]) &&
  [user_info_claims, id_token_claims].some((claims) => {
    const own = textOf(claims, email_field)
    return isVerified(claims["email_verified"]) && (own === "" || isSameAddress(own, email))
  })

/**
 * Returns the identity in verified claims of an ID token with a subject. Fails with `Invalid` for claims without an address, and
 * `Forbidden` for an address that is not admitted; the admitted ones are not shown.
 */
export const identityFrom = (
  rules: ClaimRules,
  claims: LinkClaims
): Either.Either<Omit<VerifiedIdentity, "tokens">, Invalid | Forbidden> => {
  const { id_token_claims, merged_claims } = claims
  const linked_id = `${textOf(id_token_claims, "iss")}||${textOf(id_token_claims, "sub")}`
  return Either.flatMap(emailOf(merged_claims, rules), (email) => {
    if (!rules.ignore_email_verified && !isVerifiedAddress(email, claims, rules)) {
      return Either.left(
        new Forbidden({ message: "Your e-mail address is not verified.", detail: "Verify it at the provider, and sign in again." })
      )
    }
    if (!isInDomain(email, rules.email_domain)) {
      return Either.left(new Forbidden({ message: "Your e-mail address may not log in." }))
    }
    return Either.right({
      linked_id,
      email,
      username: textOf(merged_claims, rules.username_field),
      name: textOf(merged_claims, rules.name_field),
      avatar_url: textOf(merged_claims, "picture"),
      claims
    })
  })
}
