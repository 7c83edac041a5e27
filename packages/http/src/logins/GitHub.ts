/** Logins by GitHub, on github.com or an enterprise server. identity.md §7.2, deployment.md §3.8. */
import type { Options } from "@atelier/core/deployment"
import { AuthorizationPending, type LoginProvider, noClaims, RefreshRefused } from "@atelier/core/identity"
import { Invalid, StartError } from "@atelier/core/platform"
import { Effect, Redacted } from "effect"
import { admissionOf, requireAdmitted } from "./GitHubAdmission.js"
import { Account, ask, DeviceAnswer, Emails, failed, form, type GitHubEndpoints, gitHubApi, type Granted, tokensFrom } from "./GitHubApi.js"

/** The options that are about the provider. deployment.md §3.8. */
export type GitHubOptions = Pick<
  Options,
  | "oauth2GithubAllowEveryone"
  | "oauth2GithubAllowSignups"
  | "oauth2GithubAllowedOrgs"
  | "oauth2GithubAllowedTeams"
  | "oauth2GithubClientId"
  | "oauth2GithubClientSecret"
  | "oauth2GithubDeviceFlow"
  | "oauth2GithubEnterpriseBaseUrl"
>

const scopes = "read:user read:org user:email"

const endpointsOf = (enterprise: string): GitHubEndpoints => {
  if (enterprise === "") {
    return { web: "https://github.com", api: "https://api.github.com", isPublic: true }
  }
  if (!URL.canParse(enterprise))
    throw new StartError({ option: "options.oauth2GithubEnterpriseBaseUrl", value: enterprise, reason: "must be a URL" })
  const web = enterprise.replace(/\/+$/, "")
  return { web, api: `${web}/api/v3`, isPublic: false }
}

/** Creates the provider. Throws `StartError` for options that admit no user, or contradict each other. */
export const make = (
  options: GitHubOptions,
  endpoints: GitHubEndpoints = endpointsOf(options.oauth2GithubEnterpriseBaseUrl)
): LoginProvider => {
  const { isPublic, web } = endpoints
  const admission = admissionOf(options)
  const clientSecret = Redacted.value(options.oauth2GithubClientSecret)
  const client: Readonly<Record<string, string>> = {
    client_id: options.oauth2GithubClientId,
    ...(clientSecret === "" ? {} : { client_secret: clientSecret })
  }
  const api = gitHubApi(endpoints, client)

  const identity = (granted: typeof Granted.Type) =>
    Effect.gen(function* () {
      const token = granted.access_token
      yield* requireAdmitted(admission, api, token)
      const emails = yield* api.list("/user/emails", Emails, token)
      const email = emails.find(({ primary, verified }) => primary && verified)?.email
      if (email === undefined) return yield* new Invalid({ message: "Your primary e-mail address at GitHub is not verified." })
      const account = yield* api.get("/user", Account, token)
      if (!Number.isSafeInteger(account.id) || account.id <= 0) return yield* failed("GitHub does not say who that is.", "an id of 0")
      return {
        linked_id: String(account.id),
        email,
        username: account.login.replaceAll("_", "-"),
        name: account.name ?? "",
        avatar_url: account.avatar_url ?? "",
        github_com_user_id: isPublic ? account.id : undefined,
        tokens: yield* tokensFrom(granted),
        claims: noClaims
      }
    })

  return {
    type: "github",
    allow_signups: options.oauth2GithubAllowSignups,
    signups_disabled_text: "",
    email_fallback: false,
    sign_in_text: "GitHub",
    icon_url: "",
    redirect_url: "",
    redirect_allowed_hosts: [],
    pkce: Effect.succeed(!options.oauth2GithubDeviceFlow),
    start: ({ code_challenge, redirect_uri, state }) => {
      if (options.oauth2GithubDeviceFlow) return Effect.succeed(`/login/device?${new URLSearchParams({ state })}`)
      const query = new URLSearchParams({
        client_id: options.oauth2GithubClientId,
        response_type: "code",
        redirect_uri,
        scope: scopes,
        state,
        code_challenge,
        code_challenge_method: "S256"
      })
      return Effect.succeed(`${web}/login/oauth/authorize?${query}`)
    },
    complete: ({ code, code_verifier, redirect_uri }) =>
      Effect.gen(function* () {
        const answer = yield* api.askForTokens(
          options.oauth2GithubDeviceFlow
            ? { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: code }
            : { grant_type: "authorization_code", code, redirect_uri, code_verifier: Redacted.value(code_verifier) }
        )
        if ("access_token" in answer) return yield* identity(answer)
        if (pending.has(answer.error)) return yield* new AuthorizationPending()
        return yield* failed("GitHub did not take the code.", `${answer.error}: ${answer.error_description ?? ""}`)
      }),
    refresh: (refreshToken) =>
      Effect.gen(function* () {
        const answer = yield* api.askForTokens({ grant_type: "refresh_token", refresh_token: Redacted.value(refreshToken) })
        if ("access_token" in answer) return yield* tokensFrom(answer)
        // Anything else is wrong with the client, not with the token
        if (answer.error === "bad_refresh_token") return yield* new RefreshRefused({ detail: answer.error })
        return yield* failed("GitHub did not renew the tokens.", `${answer.error}: ${answer.error_description ?? ""}`)
      }),
    device: options.oauth2GithubDeviceFlow
      ? Effect.gen(function* () {
          const answer = yield* ask(
            `${web}/login/device/code`,
            DeviceAnswer,
            form({ client_id: options.oauth2GithubClientId, scope: scopes })
          )
          if ("device_code" in answer) return answer
          return yield* failed("GitHub did not begin the login.", `${answer.error}: ${answer.error_description ?? ""}`)
        })
      : undefined
  }
}

/** The errors that tell a device to ask again, or less often (RFC 8628 §3.5). */
const pending: ReadonlySet<string> = new Set(["authorization_pending", "slow_down"])
