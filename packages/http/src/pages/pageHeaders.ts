import type { HttpSettings } from "../server/request/Settings.js"
import { withAdditions } from "./contentSecurityPolicy.js"

/** The policy of pages with scripts, which load everything from this service. Their scripts set styles of elements. */
export const scriptedPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'"
].join("; ")

/** The settings that pages' headers follow from. */
export type PageSettings = Pick<HttpSettings, "policyAdditions" | "strictTransportSecurity">

/** Headers of pages and of the files they load, which responses of the API do not have. deployment.md §3.5. */
export const pageHeaders = (
  { policyAdditions, strictTransportSecurity }: PageSettings,
  contentSecurityPolicy: string
): Readonly<Record<string, string>> => ({
  "content-security-policy": withAdditions(contentSecurityPolicy, policyAdditions),
  "referrer-policy": "same-origin",
  ...(strictTransportSecurity === undefined ? {} : { "strict-transport-security": strictTransportSecurity })
})
