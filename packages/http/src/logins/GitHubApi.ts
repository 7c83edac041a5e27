/** The requests that logins make to GitHub, and what it answers. identity.md §7.2. */
import { ProviderFailure, type ProviderTokens } from "@atelier/core/identity"
import { Timestamp } from "@atelier/core/platform"
import { Effect, Redacted, Schema } from "effect"
import { boundedFetch, type BoundedRequest } from "./boundedFetch.js"
import { providerText } from "./providerText.js"
import { tokenExpiry } from "./tokenExpiry.js"

/** Where GitHub is; without a slash at their ends. */
export interface GitHubEndpoints {
  readonly web: string
  readonly api: string
  /** Whether accounts are those of github.com. */
  readonly isPublic: boolean
}

/** Entries of a page, and pages of a list, that are read. */
const pageSize = 100
const maximumPages = 10

export const Account = Schema.Struct({
  id: Schema.Number,
  login: Schema.String,
  name: Schema.optional(Schema.NullOr(Schema.String)),
  avatar_url: Schema.optional(Schema.NullOr(Schema.String))
})
export const Emails = Schema.Array(Schema.Struct({ email: Schema.String, primary: Schema.Boolean, verified: Schema.Boolean }))
export const Memberships = Schema.Array(Schema.Struct({ state: Schema.String, organization: Schema.Struct({ login: Schema.String }) }))
export const Teams = Schema.Array(Schema.Struct({ slug: Schema.String, organization: Schema.Struct({ login: Schema.String }) }))

export const Granted = Schema.Struct({
  access_token: Schema.NonEmptyString,
  refresh_token: Schema.optional(Schema.String),
  /** Seconds; GitHub's own apps have them. */
  expires_in: Schema.optional(Schema.Number)
})
/** GitHub answers errors with the status of a success. */
export const Refused = Schema.Struct({ error: Schema.String, error_description: Schema.optional(Schema.String) })
export const TokenAnswer = Schema.Union(Granted, Refused)

export const Device = Schema.Struct({
  device_code: Schema.String,
  user_code: Schema.String,
  verification_uri: Schema.String,
  expires_in: Schema.Number,
  interval: Schema.Number
})
export const DeviceAnswer = Schema.Union(Device, Refused)

/** The failure of a request, with what GitHub says of it. */
export const failed = (message: string, detail: string) => new ProviderFailure({ message, detail: providerText(detail) })

/** Asks GitHub and reads what it answers by a schema. */
export const ask = <A, I>(url: string, schema: Schema.Schema<A, I>, request: BoundedRequest): Effect.Effect<A, ProviderFailure> =>
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

export const form = (fields: Readonly<Record<string, string>>): BoundedRequest => ({
  method: "POST",
  headers: { accept: "application/json" },
  body: new URLSearchParams(fields)
})

/** Returns the tokens of a grant as they are kept. */
export const tokensFrom = ({ access_token, expires_in, refresh_token = "" }: typeof Granted.Type): Effect.Effect<ProviderTokens> =>
  Effect.map(Timestamp.now, (now) => ({
    access_token: Redacted.make(access_token),
    refresh_token: Redacted.make(refresh_token),
    expires_at: expires_in === undefined || expires_in <= 0 ? null : tokenExpiry(now, expires_in)
  }))

/** Requests to GitHub as the client of an app. */
export const gitHubApi = ({ api, web }: GitHubEndpoints, client: Readonly<Record<string, string>>) => {
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

  return { askForTokens, get, list }
}

/** The result of {@link gitHubApi}. */
export type GitHubApi = ReturnType<typeof gitHubApi>
