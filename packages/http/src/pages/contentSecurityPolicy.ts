import { policyAddition } from "@atelier/core/deployment"

/** Sources by directive. */
type PolicyAdditions = ReadonlyMap<string, string>

/** What the operator adds to the policy of pages. The last entry for a directive counts, and one that is no directive with sources is passed over. */
export const policyAdditions = (entries: ReadonlyArray<string>): PolicyAdditions =>
  new Map(
    entries.flatMap((entry) => {
      const found = policyAddition(entry)
      return found === undefined ? [] : [found]
    })
  )

/** A policy with sources added to its directives. `'none'` ends with the first source, and a directive that was not there is appended. */
export const withAdditions = (policy: string, additions: PolicyAdditions): string => {
  if (additions.size === 0) return policy
  const left = new Map(additions)
  const directives = policy.split("; ").map((directive) => {
    const name = directive.split(" ", 1)[0] ?? ""
    const sources = left.get(name)
    left.delete(name)
    return sources === undefined ? directive : `${directive.replace(/ 'none'$/, "")} ${sources}`
  })
  return [...directives, ...[...left].map(([name, sources]) => `${name} ${sources}`)].join("; ")
}
