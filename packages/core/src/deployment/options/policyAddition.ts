/** A directive, and sources of printable characters without those that would end the directive or the policy. */
const form = /^([a-z-]+)((?: +[!-+\--:<-~]+)+)$/i

/**
 * Reads an entry of the option `additional-csp-policy`: a directive and its sources, such as `frame-src https://apps.example.com`. Undefined for another
 * entry. deployment.md §3.5.
 */
export const policyAddition = (entry: string): readonly [directive: string, sources: string] | undefined => {
  const [, directive, sources] = form.exec(entry.trim()) ?? []
  return directive === undefined || sources === undefined ? undefined : [directive.toLowerCase(), sources.trim()]
}
