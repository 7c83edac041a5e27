/** What the claims of one user would give, by the rules of docs/identity-providers.md. The server has no operation that tells. */

export type Claims = Readonly<Record<string, unknown>>

/** Why claims or one of them say nothing. */
export class Unreadable {
  constructor(readonly reason: "json" | "object" | "commas" | "kind" | "texts" | "filter" | "slow") {}
}

/** A preview is of a pasted text: more is no set of claims. */
const maximumLength = 200_000

const payloadOf = (token: string): string | undefined => {
  const [, payload, ...rest] = token.split(".")
  if (payload === undefined || rest.length !== 1 || !/^[\w-]+$/.test(payload)) return undefined
  try {
    const binary = atob(payload.replaceAll("-", "+").replaceAll("_", "/"))
    return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.codePointAt(0) ?? 0))
  } catch {
    return undefined
  }
}

/** Reads claims as JSON, or those of a token as it is sent. */
export const readClaims = (text: string): Claims | Unreadable => {
  const trimmed = text.trim().slice(0, maximumLength)
  try {
    const value: unknown = JSON.parse(payloadOf(trimmed) ?? trimmed)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : new Unreadable("object")
  } catch {
    return new Unreadable("json")
  }
}

/** The values of a claim, each once. */
export const claimValues = (claims: Claims, field: string): ReadonlyArray<string> | Unreadable => {
  const value = Object.hasOwn(claims, field) ? claims[field] : undefined
  if (value === undefined || value === null || value === "") return []
  if (typeof value === "string") return value.includes(",") ? new Unreadable("commas") : [value]
  if (!Array.isArray(value)) return new Unreadable("kind")
  const texts = value.filter((item): item is string => typeof item === "string")
  return texts.length === value.length ? Array.from(new Set(texts)) : new Unreadable("texts")
}

export interface Rules {
  readonly field: string
  readonly mapping: Readonly<Record<string, ReadonlyArray<string>>>
  /** The values that match the filter: others are passed over. Undefined if there is no filter. */
  readonly matching: ReadonlySet<string> | undefined
  /** A value without a mapping means what has its name: groups and roles. */
  readonly followsNames: boolean
  /** What does not exist is made: groups only. */
  readonly creates: boolean
  /** What every user gets: the default organization. */
  readonly always: ReadonlyArray<string>
}

export interface Target {
  /** What a mapping names it by. */
  readonly value: string
  /** What a value of a claim names it by. */
  readonly name: string
  readonly label: string
}

export type Outcome =
  | { readonly kind: "gets"; readonly labels: ReadonlyArray<string>; readonly by: "mapping" | "name" }
  | { readonly kind: "created" }
  | { readonly kind: "passedOver" }
  /** Mapped to nothing, or to what no longer exists. */
  | { readonly kind: "nothing" }
  /** Neither mapped nor the name of anything. */
  | { readonly kind: "unknown" }

export interface Preview {
  /** For each value of the claim, in its order. */
  readonly outcomes: ReadonlyArray<readonly [value: string, outcome: Outcome]>
  /** All that the user would have, each once. */
  readonly all: ReadonlyArray<string>
}

/** What a user with these claims would get. */
export const previewOf = (claims: Claims, rules: Rules, targets: ReadonlyArray<Target>): Preview | Unreadable => {
  const values = claimValues(claims, rules.field)
  if (values instanceof Unreadable) return values
  const labelsOf = (ids: ReadonlyArray<string>): ReadonlyArray<string> =>
    ids.flatMap((id) => targets.find(({ value }) => value === id)?.label ?? [])
  const outcomeOf = (value: string): Outcome => {
    if (rules.matching !== undefined && !rules.matching.has(value)) return { kind: "passedOver" }
    const mapped = Object.hasOwn(rules.mapping, value) ? rules.mapping[value] : undefined
    if (mapped !== undefined) {
      const labels = labelsOf(mapped)
      return labels.length === 0 ? { kind: "nothing" } : { kind: "gets", labels, by: "mapping" }
    }
    if (!rules.followsNames) return { kind: "unknown" }
    const named = targets.find(({ name }) => name === value)
    if (named !== undefined) return { kind: "gets", labels: [named.label], by: "name" }
    return rules.creates ? { kind: "created" } : { kind: "unknown" }
  }
  const outcomes = values.map((value) => [value, outcomeOf(value)] as const)
  const given = outcomes.flatMap(([value, outcome]) =>
    outcome.kind === "gets" ? outcome.labels : outcome.kind === "created" ? [value] : []
  )
  return { outcomes, all: Array.from(new Set([...labelsOf(rules.always), ...given])) }
}
