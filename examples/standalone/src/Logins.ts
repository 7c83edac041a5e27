import type { Flag, ValueOf } from "@atelier/core/deployment"
import { StartError } from "@atelier/core/platform"
import { makeGitHub, type GitHubOptions, type LoginOptions, type OidcOptions } from "@atelier/http"
import { Redacted } from "effect"

const trimmed = (entries: ReadonlyArray<string>): ReadonlyArray<string> =>
  entries.map((entry) => entry.trim()).filter((entry) => entry !== "")

/** Reads the login methods other than a password. Throws `StartError` for options that exclude each other. */
export const loginOptions = (
  of: <F extends Flag>(flag: F) => ValueOf<F>,
  secretOf: (flag: "oidc-client-secret" | "oauth2-github-client-secret") => string
): LoginOptions => {
  const oidc = (): OidcOptions => {
    const issuer_url = of("oidc-issuer-url")
    if (!URL.canParse(issuer_url))
      throw new StartError({ option: "oidc.issuer_url", value: issuer_url, reason: "must be a URL if --oidc-client-id is given" })
    if (of("oidc-client-id") === "") throw new StartError({ option: "oidc.client_id", reason: "is needed with --oidc-issuer-url" })
    return {
      issuer_url,
      client_id: of("oidc-client-id"),
      client_secret: Redacted.make(secretOf("oidc-client-secret")),
      scopes: trimmed(of("oidc-scopes")),
      email_domain: trimmed(of("oidc-email-domain")),
      username_field: of("oidc-username-field"),
      name_field: of("oidc-name-field"),
      email_field: of("oidc-email-field"),
      ignore_email_verified: of("oidc-ignore-email-verified"),
      ignore_user_info: of("oidc-ignore-userinfo"),
      allow_signups: of("oidc-allow-signups"),
      signups_disabled_text: of("oidc-signups-disabled-text"),
      sign_in_text: of("oidc-sign-in-text"),
      icon_url: of("oidc-icon-url"),
      redirect_url: of("oidc-redirect-url")
    }
  }

  const github = (): GitHubOptions => {
    const options: GitHubOptions = {
      client_id: of("oauth2-github-client-id"),
      client_secret: Redacted.make(secretOf("oauth2-github-client-secret")),
      allowed_orgs: trimmed(of("oauth2-github-allowed-orgs")),
      allowed_teams: trimmed(of("oauth2-github-allowed-teams")),
      allow_everyone: of("oauth2-github-allow-everyone"),
      allow_signups: of("oauth2-github-allow-signups"),
      device_flow: of("oauth2-github-device-flow"),
      enterprise_base_url: of("oauth2-github-enterprise-base-url")
    }
    // Says what is wrong with them before anything starts
    makeGitHub(options)
    return options
  }

  return {
    ...(of("oidc-client-id") + of("oidc-issuer-url") === "" ? {} : { oidc: oidc() }),
    ...(of("oauth2-github-client-id") === "" ? {} : { oauth2: { github: github() } })
  }
}
