/**
 * Limits on the keys that a credential may create. In the reference, any key that may create keys can create one with every scope, so that
 * a leaked narrow key becomes a full one; here a key never creates a key with more rights than its own.
 */
import { type AllowList, type AllowListEntry, formatAllowListEntry } from "../../access/scopes/AllowList.js"
import { type Grants, vote } from "../../access/decisions/Permission.js"
import { isResourceKind } from "../../access/Resource.js"
import { scopeGrants } from "../../access/scopes/Scope.js"
import type { Subject } from "../../access/actors/Subject.js"
import type { Validation } from "../../platform/Errors.js"

/** The scopes and allow-list entries that reach beyond the subject's own credential; none when a key with them may be made. */
export const excess = (
  subject: Pick<Subject, "scope" | "allowList">,
  scopes: ReadonlyArray<string>,
  allowList: AllowList
): ReadonlyArray<Validation> => [
  ...scopes
    .filter((scope) => !isWithin(subject.scope, scopeGrants(scope) ?? {}))
    .map((scope) => ({ field: "scopes", detail: `${scope} reaches beyond the scopes of the credential in use` })),
  ...allowList
    .filter((entry) => !subject.allowList.some((own) => covers(own, entry)))
    .map((entry) => ({
      field: "allow_list",
      detail: `${formatAllowListEntry(entry)} reaches beyond the allow list of the credential in use`
    }))
]

/** Whether each pair is granted already. A wildcard needs a wildcard: it also stands for actions and types that do not exist yet. */
const isWithin = (own: ReadonlyArray<Grants>, wanted: Grants): boolean =>
  Object.entries(wanted).every(
    ([type, actions]) =>
      isResourceKind(type) && actions.every((action) => own.some((grants) => vote(grants, undefined, type, action) === 1))
  )

const covers = (own: AllowListEntry, wanted: AllowListEntry): boolean =>
  (own.type === "*" || own.type === wanted.type) && (own.id === "*" || own.id === wanted.id)
