/** Where providers send browsers back to. identity.md §7.1. */
import type { ExternalLoginType, LoginProvider } from "@atelier/core/identity"
import { Invalid } from "@atelier/core/platform"
import { Effect } from "effect"

const paths: Readonly<Record<ExternalLoginType, string>> = {
  github: "/api/v2/users/oauth2/github/callback",
  oidc: "/api/v2/users/oidc/callback"
}

/** Whether the address depends on the host that a browser uses. */
export const isDynamic = ({ redirect_allowed_hosts, redirect_url }: LoginProvider): boolean =>
  redirect_url === "" && redirect_allowed_hosts.length > 0

/**
 * Returns the redirect URI: below the configured address, the access URL, or, if several hosts are allowed, the host that the browser uses.
 * Fails with `Invalid` for a host that is not allowed.
 */
export const redirectUris = ({ accessUrl }: { readonly accessUrl: string }) => {
  const access = new URL(accessUrl)
  const pathPrefix = access.pathname.replace(/\/+$/, "")

  return ({ redirect_allowed_hosts, redirect_url, type }: LoginProvider, host: string): Effect.Effect<string, Invalid> => {
    const path = `${pathPrefix}${paths[type]}`
    if (redirect_url !== "") return Effect.succeed(new URL(path, redirect_url).href)
    if (redirect_allowed_hosts.length === 0) return Effect.succeed(`${accessUrl}${paths[type]}`)
    const origin = `${access.protocol}//${host}`
    const isAllowed =
      URL.canParse(origin) &&
      redirect_allowed_hosts.some((allowed) => allowed.toLowerCase() === new URL(origin).hostname.toLowerCase()) &&
      new URL(origin).username === "" &&
      new URL(origin).pathname === "/"
    return isAllowed
      ? Effect.succeed(`${new URL(origin).origin}${path}`)
      : Effect.fail(new Invalid({ message: "Logins may not return to this host." }))
  }
}
