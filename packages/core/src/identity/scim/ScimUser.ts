/** A user as an identity provider sees it and provisions it (RFC 7643 §4.1). Everything here is pure. authorization.md §13. */
import { Either } from "effect"
import { Invalid } from "../../platform/Errors.js"
import { fullNameFrom } from "../logins/ProviderProfile.js"
import type { User } from "../users/User.js"

/** The kind of an error, in the words of RFC 7644 §3.12. */
export type ScimErrorType = "invalidFilter" | "invalidPath" | "invalidSyntax" | "invalidValue" | "mutability" | "noTarget"

/** A request that breaks a rule of SCIM. */
export class ScimInvalid extends Invalid {
  constructor(
    readonly scimType: ScimErrorType,
    message: string
  ) {
    super({ message })
  }
}

/** The schema that users are of. */
export const scimUserSchema = "urn:ietf:params:scim:schemas:core:2.0:User"

export interface ScimEmail {
  readonly value?: string | undefined
  /** A switch, which some providers write as a text. */
  readonly primary?: boolean | string | undefined
}

export interface ScimName {
  readonly formatted?: string | undefined
  readonly givenName?: string | undefined
  readonly familyName?: string | undefined
}

/** The attributes that a provider sends of a user; those that the service does not store are left out. */
export interface ScimAttributes {
  /** Empty when it is not given. */
  readonly userName: string
  readonly name?: ScimName | undefined
  readonly displayName?: string | undefined
  readonly emails: ReadonlyArray<ScimEmail>
  /** A switch, which some providers write as a text. */
  readonly active?: boolean | string | undefined
}

/** One step of a change (RFC 7644 §3.5.2). */
export interface ScimOperation {
  readonly op: string
  readonly path?: string | undefined
  readonly value?: unknown
}

/** Steps of one change. */
const maximumOperations = 100

/** Whether a user may come in: those who are dormant come in, too. */
export const isAdmitted = ({ status }: Pick<User, "status">): boolean => status !== "suspended"

/** A switch, also where it is written as a text; undefined for anything else. */
const switchFrom = (value: unknown): boolean | undefined => {
  if (typeof value === "boolean") return value
  const text = typeof value === "string" ? value.toLowerCase() : undefined
  return text === "true" ? true : text === "false" ? false : undefined
}

/** The value of `active`, a boolean or its text. */
export const activeFrom = (value: unknown): Either.Either<boolean, ScimInvalid> => {
  const active = switchFrom(value)
  return active === undefined ? Either.left(new ScimInvalid("invalidValue", "active must be true or false.")) : Either.right(active)
}

/** The effective address: the primary one, or else the last; empty if there are no addresses. */
export const emailFrom = (emails: ReadonlyArray<ScimEmail>): string =>
  (emails.find(({ primary }) => switchFrom(primary) === true) ?? emails.at(-1))?.value ?? ""

/** The full name a provider gives, in whichever of the ways it has. */
export const fullNameOf = ({ displayName = "", name = {} }: Pick<ScimAttributes, "displayName" | "name">): string => {
  const { familyName = "", formatted = "", givenName = "" } = name
  return fullNameFrom(formatted || `${givenName} ${familyName}`.trim() || displayName)
}

/** Names of attributes have no case, and may be written with their schema in front (RFC 7644 §3.10). */
export const attributeName = (path: string): string => {
  const name = path.trim().toLowerCase()
  const prefix = `${scimUserSchema.toLowerCase()}:`
  return name.startsWith(prefix) ? name.slice(prefix.length) : name
}

/** The value of `active` in an object; undefined if absent. */
const activeIn = (value: unknown): Either.Either<boolean | undefined, ScimInvalid> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return Either.left(new ScimInvalid("invalidValue", "Without a path, value must be an object of attributes."))
  }
  const entry = Object.entries(value).find(([key]) => attributeName(key) === "active")
  return entry === undefined ? Either.right(undefined) : activeFrom(entry[1])
}

/** The value of `active` after one operation; undefined if it is unchanged. */
const activeAfterOne = ({ op, path, value }: ScimOperation): Either.Either<boolean | undefined, ScimInvalid> => {
  const attribute = path === undefined || path === "" ? undefined : attributeName(path)
  switch (op.toLowerCase()) {
    case "add":
      return Either.right(undefined)
    case "replace":
      if (attribute === undefined) return activeIn(value)
      return attribute === "active" ? activeFrom(value) : Either.right(undefined)
    case "remove":
      if (attribute === undefined) return Either.left(new ScimInvalid("noTarget", "remove needs a path."))
      return Either.right(attribute === "active" ? false : undefined)
    default:
      return Either.left(new ScimInvalid("invalidSyntax", "op must be add, remove or replace."))
  }
}

/**
 * The value of `active` after a change, the one attribute that providers change; undefined if it is unchanged. Operations on other
 * attributes are ignored, so that they do not prevent a suspension.
 */
export const activeAfter = (operations: ReadonlyArray<ScimOperation>): Either.Either<boolean | undefined, ScimInvalid> => {
  if (operations.length === 0) return Either.left(new ScimInvalid("invalidValue", "Operations must not be empty."))
  if (operations.length > maximumOperations) {
    return Either.left(new ScimInvalid("invalidValue", `There must be at most ${maximumOperations} Operations.`))
  }
  return operations.reduce<Either.Either<boolean | undefined, ScimInvalid>>(
    (before, operation) =>
      Either.flatMap(before, (active) => Either.map(activeAfterOne(operation), (changed) => (changed === undefined ? active : changed))),
    Either.right(undefined)
  )
}
