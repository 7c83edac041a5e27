import { type Configuration, isSet, type Options as InForce } from "@atelier/core/deployment"
import { Duration } from "effect"
import type { Options } from "../Options.js"
import { consoleOf } from "../pages/ConsoleOptions.js"
import { policyAdditions } from "../pages/contentSecurityPolicy.js"
import { loginAddress } from "../pages/PageOptions.js"
import { version } from "../programs/version.js"
import type { HttpSettings } from "../server/request/Settings.js"
import { parseBasePath } from "../server/request/Target.js"
import { namesOf } from "../wire/Brand.js"
import { presentationFor } from "../wire/Compatibility.js"

/** How the interface is served. Throws `StartError` for options that cannot be. */
export const settingsOf = (host: Options, options: InForce, configuration: Configuration): HttpSettings => {
  const { brand, takesAccessTokenQuery, versionOf } = presentationFor(host.compatibility)
  const accessUrl = new URL(host.accessUrl)
  const isSecure = isSet(configuration, "secure-auth-cookie") ? options.secureAuthCookie : accessUrl.protocol === "https:"
  const names = { ...namesOf(host.brand ?? brand), ...host.names }
  const mount = accessUrl.pathname.replace(/\/+$/, "")
  return {
    accessUrl: host.accessUrl.replace(/\/+$/, ""),
    names,
    version: versionOf(version),
    basePath: parseBasePath(host.basePath ?? accessUrl.pathname),
    mount,
    login: loginAddress(host, mount),
    console: consoleOf(host, mount),
    appearance: { name: host.appearance?.name ?? "", logo: host.appearance?.logo ?? "", accent: host.appearance?.accent },
    trustedProxies: {
      origins: options.proxyTrustedOrigins,
      headers: options.proxyTrustedHeaders.length === 0 ? ["X-Forwarded-For"] : options.proxyTrustedHeaders
    },
    cookies: {
      secure: isSecure,
      sameSite: options.samesiteAuthCookie.toLowerCase() === "none" ? "none" : "lax",
      hostPrefix: options.hostPrefixCookie
    },
    rateLimit: { api: options.apiRateLimit === 0 ? 512 : options.apiRateLimit, disableAll: options.dangerousDisableRateLimits },
    cors: { allowAll: options.dangerousAllowCorsRequests, origins: new Set(options.corsAllowedOrigins.map(originOf)), names },
    takesAccessTokenQuery: isSet(configuration, "allow-access-token-query") ? options.allowAccessTokenQuery : takesAccessTokenQuery,
    redirectToAccessUrl: options.redirectToAccessUrl,
    strictTransportSecurity: transportSecurity(options),
    policyAdditions: policyAdditions(options.additionalCspPolicy),
    swagger: { enable: options.swaggerEnable },
    maximumMessage: Math.max(options.websocketMessageBytes, 4 * 1024 * 1024)
  }
}

/** An origin as browsers write it. The check of the options has refused all other texts. */
const originOf = (text: string): string => new URL(text).origin

const directives = ["includeSubDomains", "preload"]

const transportSecurity = ({ strictTransportSecurity, strictTransportSecurityOptions }: InForce): string | undefined => {
  const maxAge = Duration.toSeconds(strictTransportSecurity)
  if (maxAge === 0) return undefined
  // The check of the options has refused unknown ones
  const named = directives.filter((known) => strictTransportSecurityOptions.some((name) => name.toLowerCase() === known.toLowerCase()))
  return [`max-age=${maxAge}`, ...named].join("; ")
}
