/** Allow lists: the only objects a credential may be used on. authorization.md §3. */
import { Either, Schema } from "effect"
import { Invalid, type Validation } from "../../platform/Errors.js"
import { isUuid } from "../../platform/texts/Uuid.js"
import { isResourceKind, ResourceKind } from "../Resource.js"

/** One entry: `*` stands for every type, or for every object of the type, those without an id included. */
export const AllowListEntry = Schema.Struct({ type: ResourceKind, id: Schema.String })
export type AllowListEntry = typeof AllowListEntry.Type

export type AllowList = ReadonlyArray<AllowListEntry>

/** Every object: the list of a credential made without one. */
export const unrestrictedAllowList: AllowList = [{ type: "*", id: "*" }]

/** The most entries a list may be given with. */
export const maxAllowListEntries = 128

/** An entry as clients send it: an object, or the text `type:id`. */
export type AllowListInput = string | { readonly type: string; readonly id: string }

const split = (input: AllowListInput): { readonly type: string; readonly id: string } => {
  if (typeof input !== "string") return input
  const colon = input.indexOf(":")
  return colon === -1 ? { type: input, id: "" } : { type: input.slice(0, colon), id: input.slice(colon + 1) }
}

const entryOf = (input: AllowListInput): Either.Either<AllowListEntry, Validation> => {
  const { type, id } = split(input)
  if (!isResourceKind(type))
    return Either.left({ field: "allow_list", detail: `unknown resource type ${JSON.stringify(type.slice(0, 64))}` })
  if (id !== "*" && !isUuid(id)) {
    return Either.left({
      field: "allow_list",
      detail: `the id of a ${type} entry must be "*" or a UUID, not ${JSON.stringify(id.slice(0, 64))}`
    })
  }
  return Either.right({ type, id: id.toLowerCase() })
}

/** The normalised list of what a client sent; nothing sent means every object. Fails on an unknown type, an id that is not a UUID, or too many. */
export const parseAllowList = (inputs: ReadonlyArray<AllowListInput>): Either.Either<AllowList, Invalid> => {
  if (inputs.length === 0) return Either.right(unrestrictedAllowList)
  if (inputs.length > maxAllowListEntries) {
    return Either.left(Invalid.field("allow_list", `at most ${maxAllowListEntries} entries, not ${inputs.length}`, "Invalid allow list"))
  }
  return Either.all(inputs.map(entryOf)).pipe(
    Either.mapBoth({
      onLeft: (validation) => new Invalid({ message: "Invalid allow list", validations: [validation] }),
      onRight: normalizeAllowList
    })
  )
}

const order = (a: AllowListEntry, b: AllowListEntry): number => compare(a.type, b.type) || compare(a.id, b.id)
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The shortest list that means the same: wildcards swallow what they cover, no entry twice, sorted by type, then id. */
export const normalizeAllowList = (list: AllowList): AllowList => {
  const wild = new Set(list.filter(({ id }) => id === "*").map(({ type }) => type))
  if (wild.has("*")) return unrestrictedAllowList
  const kept = list.filter(({ type, id }) => id === "*" || !wild.has(type))
  return Array.from(new Map(kept.map((entry) => [`${entry.type}:${entry.id}`, { type: entry.type, id: entry.id }])).values()).toSorted(
    order
  )
}

/** The objects of one type that a list admits: every object, including those without an id, or those with these ids. */
export const allowedIds = (list: AllowList, type: string): "all" | ReadonlySet<string> => {
  const ids = new Set<string>()
  for (const entry of list) {
    if (entry.type !== "*" && entry.type !== type) continue
    if (entry.id === "*") return "all"
    ids.add(entry.id)
  }
  return ids
}

/** An entry in the text form some clients use. */
export const formatAllowListEntry = ({ type, id }: AllowListEntry): string => `${type}:${id}`
