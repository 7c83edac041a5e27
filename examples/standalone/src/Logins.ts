import { makeGitHub, type GitHubOptions, type LoginOptions, type OidcOptions } from "@atelier/http"
import { StartError } from "@atelier/core/platform"
import { Redacted } from "effect"

/** The login methods other than a password, in the order in which `--help` shows them. */
export const loginDeclarations = {
  "oidc-issuer-url": { default: "", value: "URL", help: "the OpenID Connect provider that users log in with; default: none" },
  "oidc-client-id": { default: "", value: "ID", help: "this server's client id at the provider" },
  "oidc-client-secret": { default: "", value: "SECRET", help: "the client secret; give it in the variable or in a file" },
  "oidc-client-secret-file": { default: "", value: "FILE", help: "a file with the client secret" },
  "oidc-scopes": { default: "openid,profile,email", value: "NAME,…", help: "the scopes to request" },
  "oidc-email-domain": { default: "", value: "DOMAIN,…", help: "the e-mail domains to admit; default: all" },
  "oidc-username-field": { default: "preferred_username", value: "CLAIM", help: "the claim with the username" },
  "oidc-name-field": { default: "name", value: "CLAIM", help: "the claim with the full name" },
  "oidc-email-field": { default: "email", value: "CLAIM", help: "the claim with the e-mail address" },
  "oidc-ignore-email-verified": { default: "false", value: "", help: "accept e-mail addresses that the provider has not verified" },
  "oidc-ignore-userinfo": { default: "false", value: "", help: "take claims from the ID token alone" },
  "oidc-allow-signups": { default: "true", value: "true|false", help: "create accounts for new users" },
  "oidc-signups-disabled-text": { default: "", value: "TEXT", help: "the message for new users while sign-ups are disabled" },
  "oidc-sign-in-text": { default: "OpenID Connect", value: "TEXT", help: "the provider's name on the login page" },
  "oidc-icon-url": { default: "", value: "URL", help: "the provider's icon on the login page" },
  "oidc-redirect-url": { default: "", value: "URL", help: "the base URL of redirects; default: the access URL" },
  "oauth2-github-client-id": { default: "", value: "ID", help: "this server's client id at GitHub; default: no logins by GitHub" },
  "oauth2-github-client-secret": { default: "", value: "SECRET", help: "the client secret; give it in the variable or in a file" },
  "oauth2-github-client-secret-file": { default: "", value: "FILE", help: "a file with the client secret" },
  "oauth2-github-allowed-orgs": { default: "", value: "ORG,…", help: "the organizations to admit" },
  "oauth2-github-allowed-teams": {
    default: "",
    value: "ORG/TEAM,…",
    help: "the teams to admit; default: all members of the organizations"
  },
  "oauth2-github-allow-everyone": { default: "false", value: "", help: "admit every GitHub user" },
  "oauth2-github-allow-signups": { default: "false", value: "", help: "create accounts for new users" },
  "oauth2-github-device-flow": { default: "false", value: "", help: "log in by a code that the user enters at GitHub" },
  "oauth2-github-enterprise-base-url": { default: "", value: "URL", help: "an enterprise server in place of github.com" }
} as const

type Name = keyof typeof loginDeclarations

const list = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")

/**
 * Reads the options. `file` returns the content of the file that an option names, or nothing without one. Throws `StartError` for options
 * that exclude each other.
 */
export const loginOptions = (text: (name: Name) => string, flag: (name: Name) => boolean, file: (name: Name) => string): LoginOptions => {
  const secret = (name: "oidc-client-secret" | "oauth2-github-client-secret") => Redacted.make(file(`${name}-file`).trimEnd() || text(name))

  const oidc = (): OidcOptions => {
    const issuer_url = text("oidc-issuer-url")
    if (!URL.canParse(issuer_url))
      throw new StartError({ option: "oidc.issuer_url", value: issuer_url, reason: "must be a URL if --oidc-client-id is given" })
    if (text("oidc-client-id") === "") throw new StartError({ option: "oidc.client_id", reason: "is needed with --oidc-issuer-url" })
    return {
      issuer_url,
      client_id: text("oidc-client-id"),
      client_secret: secret("oidc-client-secret"),
      scopes: list(text("oidc-scopes")),
      email_domain: list(text("oidc-email-domain")),
      username_field: text("oidc-username-field"),
      name_field: text("oidc-name-field"),
      email_field: text("oidc-email-field"),
      ignore_email_verified: flag("oidc-ignore-email-verified"),
      ignore_user_info: flag("oidc-ignore-userinfo"),
      allow_signups: flag("oidc-allow-signups"),
      signups_disabled_text: text("oidc-signups-disabled-text"),
      sign_in_text: text("oidc-sign-in-text"),
      icon_url: text("oidc-icon-url"),
      redirect_url: text("oidc-redirect-url")
    }
  }

  const github = (): GitHubOptions => {
    const options: GitHubOptions = {
      client_id: text("oauth2-github-client-id"),
      client_secret: secret("oauth2-github-client-secret"),
      allowed_orgs: list(text("oauth2-github-allowed-orgs")),
      allowed_teams: list(text("oauth2-github-allowed-teams")),
      allow_everyone: flag("oauth2-github-allow-everyone"),
      allow_signups: flag("oauth2-github-allow-signups"),
      device_flow: flag("oauth2-github-device-flow"),
      enterprise_base_url: text("oauth2-github-enterprise-base-url")
    }
    // Says what is wrong with them before anything starts
    makeGitHub(options)
    return options
  }

  return {
    ...(text("oidc-client-id") + text("oidc-issuer-url") === "" ? {} : { oidc: oidc() }),
    ...(text("oauth2-github-client-id") === "" ? {} : { oauth2: { github: github() } })
  }
}
