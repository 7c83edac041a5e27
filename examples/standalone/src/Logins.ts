import { makeGitHub, type GitHubOptions, type LoginOptions, type OidcOptions } from "@atelier/http"
import { StartError } from "@atelier/core/platform"
import { Redacted } from "effect"

/** The login methods other than a password, in the order in which `--help` shows them. */
export const loginDeclarations = {
  "oidc-issuer-url": { default: "", value: "URL", help: "the OpenID Connect provider that users log in with; none unless given" },
  "oidc-client-id": { default: "", value: "ID", help: "what the provider calls this server" },
  "oidc-client-secret": { default: "", value: "SECRET", help: "its secret there; give it in the variable or in a file" },
  "oidc-client-secret-file": { default: "", value: "FILE", help: "holds the secret" },
  "oidc-scopes": { default: "openid,profile,email", value: "NAME,…", help: "what the provider is asked for" },
  "oidc-email-domain": { default: "", value: "DOMAIN,…", help: "whose addresses are admitted; all unless given" },
  "oidc-username-field": { default: "preferred_username", value: "CLAIM", help: "where the provider says what a user is called" },
  "oidc-name-field": { default: "name", value: "CLAIM", help: "where it says the full name" },
  "oidc-email-field": { default: "email", value: "CLAIM", help: "where it says the address" },
  "oidc-ignore-email-verified": { default: "false", value: "", help: "admit addresses that the provider has not verified" },
  "oidc-ignore-userinfo": { default: "false", value: "", help: "take claims from the ID token alone" },
  "oidc-allow-signups": { default: "true", value: "true|false", help: "make accounts for those who have none" },
  "oidc-signups-disabled-text": { default: "", value: "TEXT", help: "what others are told where none are made" },
  "oidc-sign-in-text": { default: "OpenID Connect", value: "TEXT", help: "what the login page calls the provider" },
  "oidc-icon-url": { default: "", value: "URL", help: "the picture it shows" },
  "oidc-redirect-url": { default: "", value: "URL", help: "where browsers come back to, unless to the access URL" },
  "oauth2-github-client-id": { default: "", value: "ID", help: "what GitHub calls this server; no logins by GitHub unless given" },
  "oauth2-github-client-secret": { default: "", value: "SECRET", help: "its secret there; give it in the variable or in a file" },
  "oauth2-github-client-secret-file": { default: "", value: "FILE", help: "holds the secret" },
  "oauth2-github-allowed-orgs": { default: "", value: "ORG,…", help: "whose members are admitted" },
  "oauth2-github-allowed-teams": { default: "", value: "ORG/TEAM,…", help: "whose members are admitted, if not the whole organizations'" },
  "oauth2-github-allow-everyone": { default: "false", value: "", help: "admit everybody with an account there" },
  "oauth2-github-allow-signups": { default: "false", value: "", help: "make accounts for those who have none" },
  "oauth2-github-device-flow": { default: "false", value: "", help: "have users enter a code at GitHub" },
  "oauth2-github-enterprise-base-url": { default: "", value: "URL", help: "an enterprise server in place of github.com" }
} as const

type Name = keyof typeof loginDeclarations

const list = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")

/**
 * What the options say; `file` answers what the file an option names holds, or nothing where none is named. Throws `StartError` for options
 * that cannot go together.
 */
export const loginOptions = (text: (name: Name) => string, flag: (name: Name) => boolean, file: (name: Name) => string): LoginOptions => {
  const secret = (name: "oidc-client-secret" | "oauth2-github-client-secret") => Redacted.make(file(`${name}-file`).trimEnd() || text(name))

  const oidc = (): OidcOptions => {
    const issuer_url = text("oidc-issuer-url")
    if (!URL.canParse(issuer_url))
      throw new StartError({ option: "oidc.issuer_url", value: issuer_url, reason: "must be a URL where --oidc-client-id is given" })
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
