/** Sources by directive. */
export type PolicyAdditions = ReadonlyMap<string, string>

/** A directive, and sources without the characters that would end it, the policy, or the header. */
const addition = /^([a-z-]+)\s+([^;,\p{Cc}]+)$/iu

/**
 * The operator's additions, each a directive and its sources: `frame-src https://apps.example.com`. The last entry for a directive counts, and an entry
 * without sources is passed over. deployment.md §3.5.
 */
export const policyAdditions = (entries: ReadonlyArray<string>): PolicyAdditions =>
  new Map(
    entries.flatMap((entry) => {
      const [, directive, sources] = addition.exec(entry.trim()) ?? []
      return directive === undefined || sources === undefined ? [] : [[directive.toLowerCase(), sources] as const]
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
