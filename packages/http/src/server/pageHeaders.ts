import type { HttpSettings } from "./Settings.js"

/** Headers of pages and of the files they load, which responses of the API do not have. deployment.md §3.5. */
export const pageHeaders = (
  { strictTransportSecurity }: Pick<HttpSettings, "strictTransportSecurity">,
  contentSecurityPolicy: string
): Readonly<Record<string, string>> => ({
  "content-security-policy": contentSecurityPolicy,
  "referrer-policy": "same-origin",
  ...(strictTransportSecurity === undefined ? {} : { "strict-transport-security": strictTransportSecurity })
})
