/** Where providers of tokens for workspaces are, by their types, and which entries cannot be. deployment.md §10.2. */
import { compilePattern } from "../platform/texts/Pattern.js"
import type { ExternalAuthEntry } from "../deployment/options/readers.js"

/** A provider as it is used: every address is filled in that its type knows. */
export interface ExternalAuthProvider extends ExternalAuthEntry {
  readonly scopes: ReadonlyArray<string>
  readonly extra_token_keys: ReadonlyArray<string>
  readonly code_challenge_methods_supported: ReadonlyArray<string>
}

/** The addresses of a type, where the authorization address is at a server of the operator's. */
interface Preset {
  readonly auth_url?: string
  readonly token_url?: string
  readonly validate_url?: string
  readonly revoke_url?: string
  readonly device_code_url?: string
  readonly app_installations_url?: string
  readonly api_base_url?: string
  readonly scopes?: ReadonlyArray<string>
  readonly extra_token_keys?: ReadonlyArray<string>
  /** Providers that do not know PKCE refuse it. */
  readonly withoutPkce?: boolean
  /** The host of the repositories. */
  readonly host?: string
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "")
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "")

const presetOf = (type: string, { auth_url, client_id }: ExternalAuthEntry): Preset => {
  const own = originOf(auth_url)
  switch (type) {
    case "github":
      return {
        auth_url: "https://github.com/login/oauth/authorize",
        token_url: "https://github.com/login/oauth/access_token",
        validate_url: "https://api.github.com/user",
        revoke_url: `https://api.github.com/applications/${client_id}/grant`,
        device_code_url: "https://github.com/login/device/code",
        app_installations_url: "https://api.github.com/user/installations",
        api_base_url: "https://api.github.com",
        scopes: ["repo", "workflow"],
        host: "github.com"
      }
    case "gitlab": {
      const server = own || "https://gitlab.com"
      return {
        auth_url: `${server}/oauth/authorize`,
        token_url: `${server}/oauth/token`,
        validate_url: `${server}/oauth/token/info`,
        revoke_url: `${server}/oauth/revoke`,
        api_base_url: `${server}/api/v4`,
        scopes: ["write_repository", "read_api"],
        host: hostOf(auth_url) || "gitlab.com"
      }
    }
    case "bitbucket-cloud":
      return {
        auth_url: "https://bitbucket.org/site/oauth2/authorize",
        token_url: "https://bitbucket.org/site/oauth2/access_token",
        validate_url: "https://api.bitbucket.org/2.0/user",
        scopes: ["account", "repository:write"],
        withoutPkce: true,
        host: "bitbucket.org"
      }
    case "bitbucket-server":
      return {
        token_url: `${own}/rest/oauth2/latest/token`,
        validate_url: `${own}/rest/api/latest/inbox/pull-requests/count`,
        scopes: ["PUBLIC_REPOS", "REPO_READ", "REPO_WRITE"],
        withoutPkce: true,
        host: hostOf(auth_url)
      }
    case "azure-devops":
      return {
        auth_url: "https://app.vssps.visualstudio.com/oauth2/authorize",
        token_url: "https://app.vssps.visualstudio.com/oauth2/token",
        scopes: ["vso.code_write"],
        withoutPkce: true,
        host: "dev.azure.com"
      }
    case "azure-devops-entra":
      return { token_url: auth_url.replace(/\/oauth2\/authorize$/, "/oauth2/token"), withoutPkce: true, host: "dev.azure.com" }
    case "gitea": {
      const server = own || "https://gitea.com"
      return {
        auth_url: `${server}/login/oauth/authorize`,
        token_url: `${server}/login/oauth/access_token`,
        validate_url: `${server}/login/oauth/userinfo`,
        api_base_url: `${server}/api/v1`,
        scopes: ["read:repository", "write:repository", "read:user"],
        host: hostOf(server)
      }
    }
    case "jfrog":
      return {
        token_url: `${own}/access/api/v1/integrations/${client_id}/token`,
        validate_url: `${own}/access/api/v1/system/ping`,
        scopes: ["applied-permissions/user"],
        withoutPkce: true
      }
    case "slack":
      return {
        auth_url: "https://slack.com/oauth/v2/authorize",
        token_url: "https://slack.com/api/oauth.v2.access",
        revoke_url: "https://slack.com/api/auth.revoke",
        extra_token_keys: ["authed_user"],
        withoutPkce: true
      }
    default:
      return {}
  }
}

/** The names and icons of types. */
const presentations: Readonly<Record<string, readonly [name: string, icon: string]>> = {
  github: ["GitHub", "/icon/github.svg"],
  gitlab: ["GitLab", "/icon/gitlab.svg"],
  "bitbucket-cloud": ["Bitbucket", "/icon/bitbucket.svg"],
  "bitbucket-server": ["Bitbucket Server", "/icon/bitbucket.svg"],
  "azure-devops": ["Azure DevOps", "/icon/azure-devops.svg"],
  "azure-devops-entra": ["Azure DevOps (Entra)", "/icon/azure-devops.svg"],
  gitea: ["Gitea", "/icon/gitea.svg"],
  jfrog: ["JFrog", "/icon/jfrog.svg"],
  slack: ["Slack", "/icon/slack.svg"]
}

const typeOf = (type: string): string => {
  const lower = type.toLowerCase()
  return lower === "bitbucket" ? "bitbucket-cloud" : lower
}

const patternOf = (host: string): string => `^(https?://)?${host.replaceAll(".", "\\.")}(/.*)?$`

/** Returns the provider with everything filled in that its type knows. */
export const externalAuthProviderOf = (entry: ExternalAuthEntry): ExternalAuthProvider => {
  const type = typeOf(entry.type)
  const preset = presetOf(type, entry)
  const pick = (
    key: "auth_url" | "token_url" | "validate_url" | "revoke_url" | "device_code_url" | "app_installations_url" | "api_base_url"
  ) => entry[key] || (preset[key] ?? "")
  return {
    ...entry,
    type,
    id: entry.id || type,
    auth_url: pick("auth_url"),
    token_url: pick("token_url"),
    validate_url: pick("validate_url"),
    revoke_url: pick("revoke_url"),
    device_code_url: pick("device_code_url"),
    app_installations_url: pick("app_installations_url"),
    api_base_url: pick("api_base_url"),
    scopes: entry.scopes ?? preset.scopes ?? [],
    extra_token_keys: entry.extra_token_keys ?? preset.extra_token_keys ?? [],
    regex: entry.regex || (preset.host === undefined || preset.host === "" ? "" : patternOf(preset.host)),
    display_name: entry.display_name || (presentations[type]?.[0] ?? entry.type),
    display_icon: entry.display_icon || (presentations[type]?.[1] ?? "/emojis/1f511.png"),
    code_challenge_methods_supported: entry.code_challenge_methods_supported ?? (preset.withoutPkce === true ? [] : ["S256"])
  }
}

/** Git servers, whose tokens `git` itself may use. */
export const isGit = ({ type }: ExternalAuthProvider): boolean => type !== "slack" && type !== "jfrog"

const isHttp = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)

/** The rule that the list of providers breaks. */
export const externalAuthViolation = (entries: ReadonlyArray<ExternalAuthEntry>): string | undefined => {
  const ids = new Set<string>()
  for (const entry of entries) {
    const provider = externalAuthProviderOf(entry)
    const { id } = provider
    const violation = (() => {
      if (id === "") return "needs an id or a type"
      if (!/^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/.test(id) || id.length > 32) return "needs an id of letters, digits and inner hyphens"
      if (ids.has(id)) return "has the id of another provider"
      if (entry.client_id === "") return "needs a client_id"
      const needed = [provider.device_flow ? "device_code_url" : "auth_url", "token_url"] as const
      const given = ["validate_url", "revoke_url", "app_installations_url", "redirect_url"] as const
      const wrong = [...needed, ...given.filter((key) => provider[key] !== "")].find((key) => !isHttp(provider[key]))
      if (wrong !== undefined) return `needs an http or https URL as ${wrong}`
      const pattern = compilePattern(provider.regex)
      return typeof pattern === "string" ? `needs a regular expression as regex: ${pattern}` : undefined
    })()
    if (violation !== undefined) return `has the entry "${id.slice(0, 40)}", which ${violation}`
    ids.add(id)
  }
  return undefined
}
