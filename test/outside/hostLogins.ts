/** A host's own provider of logins: it returns the user that the code describes. */
import { type LoginProvider, noClaims, ProviderFailure, RefreshRefused, type VerifiedIdentity } from "@atelier/core/identity"
import { Invalid, Timestamp } from "@atelier/core/platform"
import { Effect, Redacted, Schema } from "effect"
import { aBrowser, type Browser, type Page } from "./browser.js"
import type { TestServer } from "../http/server.js"

const Described = Schema.Struct({
  linked_id: Schema.String,
  email: Schema.String,
  username: Schema.optionalWith(Schema.String, { default: () => "" }),
  name: Schema.optionalWith(Schema.String, { default: () => "" }),
  avatar_url: Schema.optionalWith(Schema.String, { default: () => "" }),
  github_com_user_id: Schema.optional(Schema.Number),
  claims: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Unknown }), { default: () => ({}) }),
  refresh_token: Schema.optionalWith(Schema.String, { default: () => "" }),
  /** Of the access token. */
  seconds: Schema.optional(Schema.Number)
})
export type DescribedIdentity = typeof Described.Encoded

export interface HostProvider extends LoginProvider {
  /** Tokens that were given up for new ones, in their order. */
  readonly renewals: Array<string>
  /** What becomes of the next renewals. */
  renewal: "granted" | "refused" | "unreachable"
  /** Waited for before a renewal is answered. */
  held: Promise<void>
}

/** Renews each token once, for an hour. */
export const aHostProvider = (changed: Partial<LoginProvider> = {}): HostProvider => {
  const provider: HostProvider = {
    type: "oidc",
    allow_signups: true,
    signups_disabled_text: "",
    email_fallback: false,
    sign_in_text: "The host",
    icon_url: "",
    redirect_url: "",
    redirect_allowed_hosts: [],
    pkce: Effect.succeed(true),
    start: ({ state }) => Effect.succeed(`http://host.test/?state=${state}`),
    complete: ({ code }) =>
      Effect.gen(function* () {
        const described = yield* Effect.mapError(
          Schema.decode(Schema.parseJson(Described))(Buffer.from(code, "base64url").toString()),
          () => new Invalid({ message: "The code describes no user." })
        )
        const { claims, refresh_token, seconds, ...identity } = described
        const now = yield* Timestamp.now
        return {
          ...identity,
          claims: { ...noClaims, merged_claims: { sub: identity.linked_id, text: "a\u0000b", ...claims } },
          tokens: {
            access_token: Redacted.make("the provider's access token"),
            refresh_token: Redacted.make(refresh_token),
            expires_at: seconds === undefined ? null : Timestamp.plus(now, `${seconds} seconds`)
          }
        } satisfies VerifiedIdentity
      }),
    refresh: (token) =>
      Effect.gen(function* () {
        provider.renewals.push(Redacted.value(token))
        yield* Effect.promise(() => provider.held)
        if (provider.renewal === "refused") return yield* new RefreshRefused({ detail: "refused" })
        if (provider.renewal === "unreachable") return yield* new ProviderFailure({ message: "unreachable" })
        return {
          access_token: Redacted.make("another access token"),
          refresh_token: Redacted.make(`after ${Redacted.value(token)}`),
          expires_at: Timestamp.plus(yield* Timestamp.now, "1 hour")
        }
      }),
    renewals: [],
    renewal: "granted",
    held: Promise.resolve(),
    ...changed
  }
  return provider
}

/** Where the tests' servers say they are. */
export const origin = "http://atelier.test"

export const callbackOf = (type: LoginProvider["type"]): string =>
  `${origin}/api/v2/users/${type === "github" ? "oauth2/github" : "oidc"}/callback`

export const browserOf = (server: TestServer, headers: Readonly<Record<string, string>> = {}): Browser =>
  aBrowser({ [origin]: server.url }, headers)

/** Goes to the provider, and comes back as whom the description says. */
export const logInAs = async (
  browser: Browser,
  identity: DescribedIdentity,
  { start = "", type = "oidc" }: { readonly start?: string; readonly type?: LoginProvider["type"] } = {}
): Promise<Page> => {
  const started = await browser.visit(`${callbackOf(type)}${start}`)
  const state = new URL(started.location ?? "").searchParams.get("state") ?? ""
  const code = Buffer.from(JSON.stringify(identity)).toString("base64url")
  return browser.visit(`${callbackOf(type)}?${new URLSearchParams({ code, state })}`)
}

/** The session that a browser has. */
export const sessionOf = (browser: Browser): string | undefined => browser.jar(origin).get("service_session_token")
