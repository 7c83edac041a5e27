/**
 * What audit entries show of a resource. Each resource has one declaration, in its own area, that says of every field of its record whether entries
 * show it, show only that it changed, or leave it out: a record with a new field does not compile until its declaration names the field.
 * notifications-audit-insights.md §B3, §B4.
 */
import { Equal } from "effect"
import { never, type Timestamp } from "../platform/time/Timestamp.js"
import type { AuditChange, AuditDiff, AuditedType } from "./AuditEntry.js"

/** Left out of entries. */
export const ignored = "ignored"

/** How a field is compared and shown. */
interface Rule<in A> {
  /** The field's name in entries, if it differs from the record's. */
  readonly name?: string
  readonly show: (value: A) => unknown
  /** The other side of a creation or deletion; follows from the value where it is absent. */
  readonly empty?: unknown
  /** What entries show of both sides of a secret; absent for other fields. */
  readonly cover?: Pick<AuditChange, "old" | "new">
}

/** A rule for times. Their empty value is not that of other texts, so a time takes no other rule. */
interface TimeRule<in A> extends Rule<A> {
  readonly ofTime: true
}

type FieldRule<A> =
  | typeof ignored
  | Required<Pick<Rule<A>, "show" | "cover">>
  | ([Extract<A, Timestamp>] extends [never] ? Rule<A> : TimeRule<A>)

/** What is declared of each field: all fields of the record, also those that a record may leave out. */
type FieldRules<A> = { readonly [Field in keyof A]-?: FieldRule<Exclude<A[Field], undefined>> }

const itself = (value: unknown): unknown => value

/** Shown as it is. */
export const audited: Rule<unknown> = { show: itself }

/** Shown in another form. `empty` is the form's empty value, if the type's own (`""`, 0, false) is another. */
export const shown = <A>(show: (value: A) => unknown, empty?: unknown): Rule<A> => ({ show, empty })

/** Shown under another name, and in another form if `show` is given. */
export const shownAs = <A>(name: string, show: (value: A) => unknown = itself): Rule<A> => ({ name, show })

/** A list without an empty value: a creation shows no old one, a deletion no new one. */
export const auditedList: Rule<ReadonlyArray<unknown>> = { show: itself, empty: null }

const absentText = "null"

/** A text that a record may not have. */
export const auditedTextOrNone: Rule<string | null> = { show: (text) => text ?? absentText, empty: absentText }

/** A time that every record has; the empty one is the first of the calendar. */
export const auditedTime: TimeRule<Timestamp> = { ofTime: true, show: itself, empty: never }

const timeOrNone = (at: Timestamp | null) => ({ Time: at ?? never, Valid: at !== null })

/** A time that a record may not have. */
export const auditedTimeOrNone: TimeRule<Timestamp | null> = { ofTime: true, show: timeOrNone, empty: timeOrNone(null) }

/** A text that entries never show, only its change. Give two different texts for a change; neither is stored. */
export const secret = { show: itself, cover: { old: "", new: "" } }

/** A secret that is no text: entries show neither side. */
export const byteSecret = { show: itself, cover: {} }

/** The users whose rights a change may end: the user that the entry is about, or all; `acl`: all, if a shared field changes. */
export type EndsRightsOf = "user" | "everyone" | "acl" | "none"

/** A resource that audit entries are about. `A` is its record: the resource as stored, and what entries show in addition. */
export interface AuditedResource<in A> {
  readonly type: AuditedType
  readonly endsRightsOf: EndsRightsOf
  /** How people call the object, where its record says so. */
  readonly nameOf: (record: Partial<A>) => string | undefined
  /** The fields that differ. A missing side is one of empty values: `before` on create, `after` on delete. §B4. */
  readonly diff: (before: Partial<A> | undefined, after: Partial<A> | undefined) => AuditDiff
}

const emptyOf = (value: unknown): unknown => {
  if (typeof value === "string") return ""
  if (typeof value === "number") return 0
  if (typeof value === "boolean") return false
  return Array.isArray(value) ? [] : null
}

/** Records that leave out a field, and those that have it as null, say the same. */
const isSame = (left: unknown, right: unknown): boolean =>
  Equal.equals(left, right) || JSON.stringify(left ?? null) === JSON.stringify(right ?? null)

const side = (key: "old" | "new", value: unknown): Partial<AuditChange> => (value === null || value === undefined ? {} : { [key]: value })

/** The values of a record, or of a part of one, by field. */
const valuesOf = (record: object | undefined): Readonly<Record<string, unknown>> => ({ ...record })

/** A resource with its declaration. */
export interface DeclaredResource<A> extends AuditedResource<A> {
  /** The resource for changes that know some fields of its record alone, the same before and after. */
  readonly part: <Field extends keyof A>(...fields: ReadonlyArray<Field>) => AuditedResource<Pick<A, Field>>
}

/** Declares a resource: every field of its record has a rule. */
export const auditedResource = <A extends object>(declaration: {
  readonly type: AuditedType
  readonly endsRightsOf: EndsRightsOf
  /** The field by which people call the object. Default: `name`. */
  readonly calledBy?: keyof A & string
  readonly fields: FieldRules<A>
}): DeclaredResource<A> => {
  const { calledBy = "name", endsRightsOf, type } = declaration
  // A rule meets the values of its own field alone
  const declared: ReadonlyArray<[field: string, rule: typeof ignored | Rule<unknown>]> = Object.entries(declaration.fields)
  const rules = declared.flatMap(([field, rule]) => (rule === ignored ? [] : [{ field, name: field, ...rule }]))
  const resource = {
    type,
    endsRightsOf,
    nameOf: (record: object) => {
      const name = valuesOf(record)[calledBy]
      return typeof name === "string" && name !== "" ? name : undefined
    },
    diff: (before: object | undefined, after: object | undefined) => {
      const old = valuesOf(before)
      const new_ = valuesOf(after)
      const changes: Record<string, AuditChange> = {}
      for (const { cover, field, name, ...rule } of rules) {
        const shownOf = (value: unknown): unknown => (value === undefined ? undefined : rule.show(value))
        const emptyFor = (value: unknown): unknown => (value === undefined || rule.empty === undefined ? emptyOf(value) : rule.empty)
        const left = shownOf(old[field])
        const right = shownOf(new_[field])
        const from = before === undefined ? emptyFor(right) : left
        const to = after === undefined ? emptyFor(left) : right
        if (isSame(from, to)) continue
        changes[name] = cover === undefined ? { ...side("old", from), ...side("new", to), secret: false } : { ...cover, secret: true }
      }
      return changes
    }
  }
  return { ...resource, part: () => resource }
}
