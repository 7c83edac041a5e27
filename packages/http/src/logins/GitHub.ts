/** Logins by GitHub, on github.com or an enterprise server. identity.md §7.2, deployment.md §3.8. */
import type { Options } from "@atelier/core/deployment"
import {
  AuthorizationPending,
  type LoginProvider,
  noClaims,
  ProviderFailure,
  type ProviderTokens,
  RefreshRefused
} from "@atelier/core/identity"
import { Invalid, StartError, Timestamp, Unauthenticated } from "@atelier/core/platform"
import { Effect, Redacted, Schema } from "effect"
import { boundedFetch, type BoundedRequest } from "./boundedFetch.js"
import { providerText } from "./providerText.js"

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

const trimmed = (entries: ReadonlyArray<string>): ReadonlyArray<string> =>
  entries.map((entry) => entry.trim()).filter((entry) => entry !== "")

/** Where GitHub is; without a slash at their ends. */
export interface GitHubEndpoints {
  readonly web: string
  readonly api: string
  /** Whether accounts are those of github.com. */
  readonly isPublic: boolean
}

const scopes = "read:user read:org user:email"

/** Entries of a page, and pages of a list, that are read. */
const pageSize = 100
const maximumPages = 10

const Account = Schema.Struct({
  id: Schema.Number,
  login: Schema.String,
  name: Schema.optional(Schema.NullOr(Schema.String)),
  avatar_url: Schema.optional(Schema.NullOr(Schema.String))
})
const Emails = Schema.Array(Schema.Struct({ email: Schema.String, primary: Schema.Boolean, verified: Schema.Boolean }))
const Memberships = Schema.Array(Schema.Struct({ state: Schema.String, organization: Schema.Struct({ login: Schema.String }) }))
const Teams = Schema.Array(Schema.Struct({ slug: Schema.String, organization: Schema.Struct({ login: Schema.String }) }))

const Granted = Schema.Struct({
  access_token: Schema.NonEmptyString,
  refresh_token: Schema.optional(Schema.String),
  /** Seconds; GitHub's own apps have them. */
  expires_in: Schema.optional(Schema.Number)
})
/** GitHub answers errors with the status of a success. */
const Refused = Schema.Struct({ error: Schema.String, error_description: Schema.optional(Schema.String) })
const TokenAnswer = Schema.Union(Granted, Refused)

const Device = Schema.Struct({
  device_code: Schema.String,
  user_code: Schema.String,
  verification_uri: Schema.String,
  expires_in: Schema.Number,
  interval: Schema.Number
})
const DeviceAnswer = Schema.Union(Device, Refused)

interface Team {
  readonly organization: string
  readonly slug: string
}

const endpointsOf = (enterprise: string): GitHubEndpoints => {
  if (enterprise === "") {
    return { web: "https://github.com", api: "https://api.github.com", isPublic: true }
  }
  if (!URL.canParse(enterprise))
    throw new StartError({ option: "options.oauth2GithubEnterpriseBaseUrl", value: enterprise, reason: "must be a URL" })
  const web = enterprise.replace(/\/+$/, "")
  return { web, api: `${web}/api/v3`, isPublic: false }
}

const failed = (message: string, detail: string) => new ProviderFailure({ message, detail: providerText(detail) })

/** Asks GitHub and reads what it answers by a schema. */
const ask = <A, I>(url: string, schema: Schema.Schema<A, I>, request: BoundedRequest): Effect.Effect<A, ProviderFailure> =>
  Effect.gen(function* () {
    const { status, text } = yield* Effect.tryPromise({
      try: async () => {
        const response = await boundedFetch(url, request)
        return { status: response.status, text: await response.text() }
      },
      catch: (error) => failed("GitHub could not be asked.", error instanceof Error ? error.message : "")
    })
    if (status !== 200) return yield* failed("GitHub refused to answer.", `status ${status}`)
    return yield* Effect.mapError(Schema.decode(Schema.parseJson(schema))(text), () =>
      failed("GitHub answered something else than it should.", new URL(url).pathname)
    )
  })

const form = (fields: Readonly<Record<string, string>>): BoundedRequest => ({
  method: "POST",
  headers: { accept: "application/json" },
  body: new URLSearchParams(fields)
})

/** Creates the provider. Throws `StartError` for options that admit no user, or contradict each other. */
export const make = (
  options: GitHubOptions,
  endpoints: GitHubEndpoints = endpointsOf(options.oauth2GithubEnterpriseBaseUrl)
): LoginProvider => {
  const { api, isPublic, web } = endpoints
  const { oauth2GithubAllowEveryone: admitsAll } = options
  const allowed_orgs = trimmed(options.oauth2GithubAllowedOrgs)
  const allowed_teams = trimmed(options.oauth2GithubAllowedTeams)
  if (admitsAll && allowed_orgs.length + allowed_teams.length > 0) {
    throw new StartError({
      option: "options.oauth2GithubAllowEveryone",
      reason: "cannot be set together with oauth2GithubAllowedOrgs or oauth2GithubAllowedTeams"
    })
  }
  if (!admitsAll && allowed_orgs.length === 0)
    throw new StartError({
      option: "options.oauth2GithubAllowedOrgs",
      reason: "must name an organization, unless oauth2GithubAllowEveryone is set"
    })
  const organizations = new Set(allowed_orgs.map((name) => name.toLowerCase()))
  const teams = allowed_teams.map(parseTeam)
  const clientSecret = Redacted.value(options.oauth2GithubClientSecret)
  const client: Readonly<Record<string, string>> = {
    client_id: options.oauth2GithubClientId,
    ...(clientSecret === "" ? {} : { client_secret: clientSecret })
  }

  const tokensFrom = ({ access_token, expires_in, refresh_token = "" }: typeof Granted.Type): Effect.Effect<ProviderTokens> =>
    Effect.map(Timestamp.now, (now) => ({
      access_token: Redacted.make(access_token),
      refresh_token: Redacted.make(refresh_token),
      expires_at:
        expires_in === undefined || expires_in <= 0 ? null : Timestamp.plus(now, `${Math.min(expires_in, longestLifetime)} seconds`)
    }))

  const askForTokens = (fields: Readonly<Record<string, string>>) =>
    ask(`${web}/login/oauth/access_token`, TokenAnswer, form({ ...client, ...fields }))

  const get = <A, I>(path: string, schema: Schema.Schema<A, I>, token: string) =>
    ask(`${api}${path}`, schema, { headers: { accept: "application/vnd.github+json", authorization: `Bearer ${token}` } })

  /** A whole list, page by page. */
  const list = <A, I>(path: string, schema: Schema.Schema<ReadonlyArray<A>, I>, token: string) =>
    Effect.gen(function* () {
      const all: Array<A> = []
      for (let page = 1; page <= maximumPages; page++) {
        const found = yield* get(`${path}${path.includes("?") ? "&" : "?"}per_page=${pageSize}&page=${page}`, schema, token)
        all.push(...found)
        if (found.length < pageSize) break
      }
      return all
    })

  /** Fails with `Unauthenticated` if the user is in none of the allowed organizations and teams. */
  const requireAdmitted = (token: string) =>
    Effect.gen(function* () {
      if (admitsAll) return
      const memberships = yield* list("/user/memberships/orgs?state=active", Memberships, token)
      const matched = memberships
        .filter(({ organization, state }) => state === "active" && organizations.has(organization.login.toLowerCase()))
        .map(({ organization }) => organization.login.toLowerCase())
      if (matched.length === 0) return yield* notAdmitted
      if (teams.length === 0) return
      const found = yield* list("/user/teams", Teams, token)
      const isMember = found.some(({ organization: { login }, slug }) => {
        const organization = login.toLowerCase()
        return (
          matched.includes(organization) && teams.some((team) => team.organization === organization && team.slug === slug.toLowerCase())
        )
      })
      if (!isMember) return yield* notAdmitted
    })

  const identity = (granted: typeof Granted.Type) =>
    Effect.gen(function* () {
      const token = granted.access_token
      yield* requireAdmitted(token)
      const emails = yield* list("/user/emails", Emails, token)
      const email = emails.find(({ primary, verified }) => primary && verified)?.email
      if (email === undefined) return yield* new Invalid({ message: "Your primary e-mail address at GitHub is not verified." })
      const account = yield* get("/user", Account, token)
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
        const answer = yield* askForTokens(
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
        const answer = yield* askForTokens({ grant_type: "refresh_token", refresh_token: Redacted.value(refreshToken) })
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

/** The longest lifetime that is stored, in seconds: ten years. */
const longestLifetime = 315_360_000

const notAdmitted = new Unauthenticated({
  message: "You are not in a GitHub organization or team that may log in."
})

const parseTeam = (text: string): Team => {
  const [organization = "", slug = "", ...more] = text.toLowerCase().split("/")
  if (organization === "" || slug === "" || more.length > 0)
    throw new StartError({ option: "options.oauth2GithubAllowedTeams", value: text, reason: "must be org/team-slug" })
  return { organization, slug }
}
