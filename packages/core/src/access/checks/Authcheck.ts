/** A caller's questions about itself: the part of POST /authcheck that needs no stored object. authorization.md §5. */
import { Schema } from "effect"
import { judge } from "../decisions/Decision.js"
import type { Subject } from "../actors/Subject.js"

/** The object of a check. Types and ids are any text: what names nothing answers false. */
export const AuthorizationObject = Schema.Struct({
  resource_type: Schema.String,
  owner_id: Schema.optional(Schema.String),
  organization_id: Schema.optional(Schema.String),
  /** When set, the object is fetched as the caller and replaces every other field. */
  resource_id: Schema.optional(Schema.String),
  any_org: Schema.optional(Schema.Boolean)
})
export type AuthorizationObject = typeof AuthorizationObject.Type

export const AuthorizationCheck = Schema.Struct({ object: AuthorizationObject, action: Schema.String })
export type AuthorizationCheck = typeof AuthorizationCheck.Type

/** The most checks of a request that may name a stored object. */
export const maxFetchingChecks = 10

/** The types whose objects a check may name by id. */
const fetchableTypes = ["workspace", "template", "user", "group"] as const
export type FetchableType = (typeof fetchableTypes)[number]

export const isFetchableType = (type: string): type is FetchableType => fetchableTypes.some((fetchable) => fetchable === type)

/**
 * The answer to a check that names no stored object. `me` as the owner is the subject itself. No object is both in one organization and in
 * any.
 */
export const authcheck = (subject: Subject, { action, object }: AuthorizationCheck): boolean =>
  !(object.any_org === true && object.organization_id !== undefined && object.organization_id !== "") &&
  judge(subject, action, {
    type: object.resource_type,
    owner: object.owner_id === "me" ? subject.id : object.owner_id,
    org: object.organization_id,
    anyOrg: object.any_org
  })
