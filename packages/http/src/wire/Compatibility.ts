/** The expectations of an existing ecosystem's clients. architecture.md, "The wire". Imports no Node: the typed client reads it. */
import { StartError } from "@atelier/core/platform"
import { neutralWord } from "./Brand.js"
import type { Dialect } from "./dialect.js"

/** An ecosystem whose clients connect unchanged. */
export type Compatibility = "coder"

/** The names and versions that a deployment presents to its clients. */
export interface Presentation {
  readonly brand: string
  readonly wire: Dialect
  /** The version that clients are told, from the package's own, which begins with `v`. deployment.md §1.2. */
  readonly versionOf: (own: string) => string
  /** The default organization's name in a new deployment. */
  readonly organizationName: string
  /** Whether OAuth2 apps get no more than the scopes that they ask for, where the deployment does not say it. */
  readonly narrowsScopes: boolean
  /** Whether the query parameter `access_token` counts as a credential, where the deployment does not say it. */
  readonly takesAccessTokenQuery: boolean
  /** The page on agents that do not connect, where neither template nor deployment names one; empty for none. */
  readonly troubleshootingUrl: string
}

const presentations: Readonly<Record<Compatibility, Presentation>> = {
  coder: {
    brand: "Coder",
    wire: "reference",
    // Clients compare the first two numbers with their own, and warn at every command about a service that is behind
    versionOf: (own) => `v2.36.0+atelier.${own.slice(1)}`,
    organizationName: "coder",
    // Editors ask for a few scopes, and then call routes outside of them
    narrowsScopes: false,
    takesAccessTokenQuery: true,
    troubleshootingUrl: "https://coder.com/docs/admin/templates/troubleshooting"
  }
}

const own: Presentation = {
  brand: neutralWord,
  wire: "standard",
  versionOf: (version) => version,
  organizationName: "default",
  narrowsScopes: true,
  takesAccessTokenQuery: false,
  troubleshootingUrl: ""
}

/** Returns how a deployment presents itself to the clients of an ecosystem; without one, as itself. Throws `StartError` for an unknown one. */
export const presentationFor = (compatibility: Compatibility | undefined): Presentation => {
  if (compatibility === undefined) return own
  // A program without types may give any text
  if (!Object.hasOwn(presentations, compatibility)) {
    throw new StartError({ option: "compatibility", value: String(compatibility), reason: 'must be "coder"' })
  }
  return presentations[compatibility]
}
