/** The host pattern below which workspace apps have subdomains. deployment.md §2.5. */

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** The rule that a pattern breaks; undefined for a good one and for none. Case does not matter, and a port may follow. */
export const wildcardViolation = (pattern: string): string | undefined => {
  if (pattern === "") return undefined
  const host = pattern.toLowerCase().replace(/:\d+$/, "")
  if (host.includes("://")) return "must have no scheme"
  if (!host.startsWith("*") || host.indexOf("*", 1) !== -1) return "must have one asterisk, as its first character"
  const labels = host.replace("*", "x").split(".")
  if (labels.length < 2) return "must have at least two labels"
  return labels.every((one) => label.test(one)) ? undefined : "must have labels of letters, digits and inner hyphens"
}
