/** Host names of apps that are served below a wildcard. agents-and-apps.md §19. */

/** An app as a host or a path names it. */
export interface AppName {
  /** An app's slug or a port, which `s` may follow. */
  readonly slug_or_port: string
  /** Empty where no agent is named. */
  readonly agent: string
  readonly workspace: string
  readonly user: string
}

/** An app as the first label of its host names it. */
export interface AppLabel extends AppName {
  /** With the hyphens behind it; empty without one. Hosts that differ in it lead to one app, with cookies of their own. */
  readonly prefix: string
}

const part = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** A host's name in lower case, without a port, white space and the period at its end. */
export const bareHost = (host: string): string => host.trim().toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "")

/** The part of a host's name that stands for the asterisk of the pattern; undefined for a host that the pattern does not match. */
export const wildcardLabel = (pattern: string, host: string): string | undefined => {
  if (pattern === "") return undefined
  const suffix = bareHost(pattern).slice(1)
  const name = bareHost(host)
  const label = name.endsWith(suffix) ? name.slice(0, -suffix.length) : ""
  return label === "" || label.includes(".") ? undefined : label
}

const portLabel = /^\d{4,5}s?$/

/** Reads the first label of an app's host; undefined for one that names no app. */
export const parseAppLabel = (label: string): AppLabel | undefined => {
  const text = label.toLowerCase()
  const mark = text.lastIndexOf("---")
  const prefix = mark < 0 ? "" : text.slice(0, mark + 3)
  const parts = text.slice(prefix.length).split("--")
  if (!parts.every((one) => part.test(one)) || parts.length < 3 || parts.length > 4) return undefined
  const [slug_or_port = ""] = parts
  const user = parts.at(-1) ?? ""
  const workspace = parts.at(-2) ?? ""
  const agent = parts.length === 4 ? (parts[1] ?? "") : ""
  if (!portLabel.test(slug_or_port)) return { prefix, slug_or_port, agent: "", workspace, user }
  // Only the agent tells the port's host from that of an app with such a name
  return agent === "" ? undefined : { prefix, slug_or_port, agent, workspace, user }
}

/** The port that a name stands for, and whether it speaks TLS; undefined for the slug of an app. */
export const portOf = (name: string): { readonly port: number; readonly isSecure: boolean } | undefined => {
  const digits = /^(\d{1,5})(s?)$/.exec(name)
  const port = Number(digits?.[1])
  return digits === null || port < 1 || port > 65_535 ? undefined : { port, isSecure: digits[2] === "s" }
}
