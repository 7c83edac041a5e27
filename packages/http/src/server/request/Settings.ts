import type { ConsoleAccent, ConsoleLink, Site } from "@atelier/console"
import { Context } from "effect"
import type { Names } from "../../wire/Brand.js"
import type { CorsSettings } from "./Cors.js"
import type { Options as RateLimits } from "./RateLimiter.js"

/** Where the web console is, and what it is made of. */
export interface ConsolePlace {
  /** Its path in our own space; empty or beginning with a slash, without one at its end. */
  readonly path: string
  /** Its path as browsers see it, with a slash at its end. */
  readonly base: string
  /** The folder of its files. */
  readonly folder: string
  readonly site: Site
  readonly navigation: ReadonlyArray<ConsoleLink>
}

/** How the interface is served. */
export interface HttpSettings {
  /** Where browsers and clients reach the service, without a trailing slash. */
  readonly accessUrl: string
  readonly names: Names
  /** The version in `X-…-Build-Version` and the build info. */
  readonly version: string
  /** The path of the mount, which the host leaves in URLs or removes; empty or beginning with a slash, without one at its end. */
  readonly basePath: string
  /** The path of the mount as browsers see it: that of the access URL, without a slash at its end. */
  readonly mount: string
  /** Where a browser signs in: a path of this service, or the host's page. Undefined where there is no page for it. */
  readonly login: string | undefined
  /** Undefined where there is no console. */
  readonly console: ConsolePlace | undefined
  /** What people see unless the deployment's owner has set something else; empty for the product's own. */
  readonly appearance: {
    readonly name: string
    readonly logo: string
    /** Undefined for the product's own colours. */
    readonly accent: ConsoleAccent | undefined
  }
  /** The proxies whose forwarding headers are believed. deployment.md §3.2. */
  readonly trustedProxies: {
    /** Networks in CIDR notation whose forwarding headers are believed. */
    readonly origins: ReadonlyArray<string>
    /** Headers that name the client, in the order they are asked. */
    readonly headers: ReadonlyArray<string>
  }
  /** Attributes of all cookies. deployment.md §3.4. */
  readonly cookies: {
    readonly secure: boolean
    readonly sameSite: "lax" | "none"
    /** Session cookies have names that begin with `__Host-`. */
    readonly hostPrefix: boolean
  }
  /** The limits on requests per minute. deployment.md §3.1. */
  readonly rateLimit: RateLimits
  /** Which pages of other origins may read answers. deployment.md §3.5. */
  readonly cors: CorsSettings
  /** Whether the query parameter `access_token` counts as a credential (RFC 6750 §2.3), which RFC 9700 §4.3.2 advises against. */
  readonly takesAccessTokenQuery: boolean
  /** Sends callers of another address to the access URL. deployment.md §3.3. */
  readonly redirectToAccessUrl: boolean
  /** Value of `Strict-Transport-Security` on pages; undefined leaves the header out. deployment.md §3.5. */
  readonly strictTransportSecurity: string | undefined
  /** What the operator adds to the Content-Security-Policy of pages: sources by directive. deployment.md §3.5. */
  readonly policyAdditions: ReadonlyMap<string, string>
  readonly swagger: { readonly enable: boolean }
  /** The largest message of a WebSocket in bytes. */
  readonly maximumMessage: number
}

export class Settings extends Context.Tag("@atelier/http/Settings")<Settings, HttpSettings>() {}
