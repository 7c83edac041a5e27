import { Context, Effect, Option, Redacted } from "effect"
import type { CurrentActor } from "../access/actors/Actor.js"
import { type Invalid, NotFound, type UpstreamFailure } from "../platform/Errors.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import {
  type ExternalAuthClient,
  ExternalAuthClients,
  type ExternalAuthFailure,
  type ExternalAuthInstallation,
  type ExternalAuthUser,
  type ExternalAuthDevice
} from "./ExternalAuthClient.js"
import { ExternalAuthRepository } from "./ExternalAuthRepository.js"
import { type ExternalAuthStanding, ExternalAuthTokens } from "./ExternalAuthTokens.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { ExternalAuthProvider } from "./ExternalAuthProvider.js"
import { ownUser, externalAuthLogins } from "./ExternalAuthLogins.js"

/** A link in its user's list. */
export interface ListedExternalAuthLink {
  readonly provider_id: string
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  readonly has_refresh_token: boolean
  /** Null for a token that does not expire. */
  readonly expires: Timestamp | null
  readonly authenticated: boolean
  /** Why the link is not authenticated; empty where it is. */
  readonly validate_error: string
}

/** A provider with the actor's link to it. */
export interface LinkedExternalAuth {
  readonly authenticated: boolean
  /** Why the provider could not be asked; empty where it was asked, or there was nothing to ask. */
  readonly failure: string
  readonly device: boolean
  readonly display_name: string
  readonly supports_revocation: boolean
  readonly user: ExternalAuthUser | null
  readonly app_installable: boolean
  readonly app_install_url: string
  readonly installations: ReadonlyArray<ExternalAuthInstallation>
}

/** Links that are validated at once. */
const concurrency = 8

const reasonOf = ({ detail, message }: ExternalAuthFailure): string => (detail === "" ? message : `${message} ${detail}`)

/** A provider that could not be asked, as a list shows it beside the others. */
const away = (failure: ExternalAuthFailure): Effect.Effect<ExternalAuthStanding> =>
  Effect.succeed({ authenticated: false, reason: reasonOf(failure) })

/** The methods of {@link ExternalAuth}. */
export interface ExternalAuthService {
  /** The providers in their configured order. */
  readonly providers: ReadonlyArray<ExternalAuthProvider>

  /** The actor's links. Each link to a configured provider is renewed, if it has expired, and validated. deployment.md §10.1. */
  readonly list: () => Effect.Effect<ReadonlyArray<ListedExternalAuthLink>, NotFound, CurrentActor>

  /**
   * A provider with the actor's link, which is validated and not renewed. The link to a provider that cannot be asked is not authenticated.
   * Fails with `NotFound` for an unknown provider.
   */
  readonly get: (id: string) => Effect.Effect<LinkedExternalAuth, NotFound, CurrentActor>

  /**
   * Removes the actor's link and revokes its tokens at the provider. Fails with `NotFound` without a link. A revocation that fails is told and
   * is no failure: the link is gone.
   */
  readonly unlink: (id: string) => Effect.Effect<{ readonly token_revoked: boolean }, NotFound, CurrentActor>

  /** Begins a device flow. Fails with `Invalid` where the provider has none, and with `UpstreamFailure` where it fails. RFC 8628 §3.2. */
  readonly startDevice: (id: string) => Effect.Effect<ExternalAuthDevice, Invalid | NotFound | UpstreamFailure, CurrentActor>

  /**
   * Links the actor's user by the code of a device. Fails with `Invalid` until the user has entered the code at the provider; the
   * detail is the provider's code, such as `authorization_pending`. RFC 8628 §3.5.
   */
  readonly completeDevice: (id: string, deviceCode: string) => Effect.Effect<undefined, Invalid | NotFound, CurrentActor>

  /** The provider that a browser is sent to. Fails with `NotFound` for one that is linked by the device flow. */
  readonly redirecting: (id: string) => Effect.Effect<ExternalAuthClient, NotFound, CurrentActor>

  /** Links the actor's user by the code that a browser brings back. Fails with `UpstreamFailure` where the provider does not take it. */
  readonly complete: (
    client: ExternalAuthClient,
    response: { readonly code: string; readonly redirect_uri: string; readonly code_verifier: Redacted.Redacted<string> }
  ) => Effect.Effect<void, NotFound | UpstreamFailure, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* ExternalAuthRepository
  const tokens = yield* ExternalAuthTokens
  const clients = yield* ExternalAuthClients

  const externalAuthLoginsParts = externalAuthLogins({ clients, tokens })
  const { clientOf } = externalAuthLoginsParts

  return {
    providers: clients.map(({ provider }) => provider),

    list: Traced.fn("ExternalAuth.list")(function* () {
      const userId = yield* ownUser("read_personal")
      const present = yield* repository.ofUser(userId)
      const standings = yield* Effect.forEach(
        present,
        ({ provider_id }) => {
          const client = clients.find(({ provider }) => provider.id === provider_id)
          return client === undefined ? Effect.succeed(undefined) : Effect.catchAll(tokens.current(userId, client), away)
        },
        { concurrency }
      )
      // Another request may have renewed the tokens: the stored link is shown
      const links = yield* repository.ofUser(userId)
      return yield* Effect.forEach(links, (link) =>
        Effect.gen(function* () {
          const standing = standings[present.findIndex(({ provider_id }) => provider_id === link.provider_id)]
          const opened = yield* tokens.open(link)
          const listed: ListedExternalAuthLink = {
            provider_id: link.provider_id,
            created_at: link.created_at,
            updated_at: link.updated_at,
            has_refresh_token: Option.isSome(opened) && Redacted.value(opened.value.refresh_token) !== "",
            expires: link.oauth_expiry,
            authenticated: standing?.authenticated === true,
            validate_error: standing?.authenticated === false ? standing.reason : ""
          }
          return listed
        })
      )
    }),

    get: Traced.fn("ExternalAuth.get")(function* (id: string) {
      const client = yield* clientOf(id)
      const userId = yield* ownUser("read_personal")
      const { app_install_url, device_flow, display_name, revoke_url } = client.provider
      const link = yield* repository.find(userId, id)
      const asked = Option.isNone(link)
        ? undefined
        : yield* Effect.all(
            [
              tokens.inspect(client, link.value),
              Effect.flatMap(tokens.open(link.value), (opened) =>
                Option.isNone(opened) ? Effect.succeed(undefined) : client.installations(opened.value.access_token)
              )
            ],
            { concurrency: "unbounded" }
          ).pipe(Effect.either)
      const [standing, installations] = asked?._tag === "Right" ? asked.right : []
      const isAuthenticated = standing?.authenticated === true
      const view: LinkedExternalAuth = {
        authenticated: isAuthenticated,
        failure: asked?._tag === "Left" ? reasonOf(asked.left) : "",
        device: device_flow,
        display_name,
        supports_revocation: revoke_url !== "",
        user: isAuthenticated ? standing.user : null,
        app_installable: installations !== undefined,
        app_install_url,
        installations: installations ?? []
      }
      return view
    }),

    unlink: Traced.fn("ExternalAuth.unlink")(function* (id: string) {
      const client = clients.find(({ provider }) => provider.id === id)
      const userId = yield* ownUser("update_personal")
      const removed = Option.getOrUndefined(yield* repository.remove(userId, id))
      if (removed === undefined) return yield* new NotFound({ resource: "external_auth" })
      const opened = yield* tokens.open(removed)
      if (client === undefined || Option.isNone(opened)) return { token_revoked: false }
      return yield* Effect.match(client.revoke(opened.value), {
        onSuccess: (token_revoked) => ({ token_revoked }),
        onFailure: ({ detail, message }) => ({
          token_revoked: false,
          token_revocation_error: detail === "" ? message : `${message} ${detail}`
        })
      })
    }, Effect.uninterruptible),

    startDevice: externalAuthLoginsParts.startDevice,
    completeDevice: externalAuthLoginsParts.completeDevice,
    redirecting: externalAuthLoginsParts.redirecting,
    complete: externalAuthLoginsParts.complete
  }
})

/** The links of users to external providers, such as git hosts. Each user has its own. deployment.md §10. */
export class ExternalAuth extends Context.Tag("@atelier/core/ExternalAuth")<ExternalAuth, ExternalAuthService>() {
  static readonly layer = standingOn(service(ExternalAuth, make), ExternalAuthTokens.layer)
}
