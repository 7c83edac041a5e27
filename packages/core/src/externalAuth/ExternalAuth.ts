import { Context, Effect, Option, Redacted } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { Invalid, NotFound, UpstreamFailure } from "../platform/Errors.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import {
  type ExternalAuthClient,
  ExternalAuthClients,
  type ExternalAuthFailure,
  type ExternalAuthInstallation,
  type ExternalAuthUser,
  type ExternalAuthDevice
} from "./ExternalAuthClient.js"
import type { ExternalAuthTokenSet } from "./ExternalAuthLink.js"
import { ExternalAuthRepository } from "./ExternalAuthRepository.js"
import { type ExternalAuthStanding, ExternalAuthTokens } from "./ExternalAuthTokens.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { ExternalAuthProvider } from "./ExternalAuthProvider.js"

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

const noDevice = new Invalid({ message: "The provider does not support the device flow." })

/** Links that are validated at once. */
const concurrency = 8

const reasonOf = ({ detail, message }: ExternalAuthFailure): string => (detail === "" ? message : `${message} ${detail}`)

/** A provider that could not be asked, as a list shows it beside the others. */
const away = (failure: ExternalAuthFailure): Effect.Effect<ExternalAuthStanding> =>
  Effect.succeed({ authenticated: false, reason: reasonOf(failure) })

/** Tells the caller of a provider that could not be asked. */
export const upstreamFailure = ({ detail, message }: ExternalAuthFailure): UpstreamFailure => new UpstreamFailure({ message, detail })

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

  /** The client of a provider. Fails with `NotFound` for an id that no provider has. */
  const clientOf = (id: string): Effect.Effect<ExternalAuthClient, NotFound> => {
    const client = clients.find(({ provider }) => provider.id === id)
    return client === undefined ? new NotFound({ resource: "external_auth" }) : Effect.succeed(client)
  }

  /** The actor's own user. Fails with `NotFound` if the actor's credential does not reach personal data. */
  const ownUser = (action: "read_personal" | "update_personal") =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentActor
      yield* Access.authorizeOrHide(action, AccessObjects.user({ id: userId }))
      return userId
    })

  /** Fails with `NotFound` for a user that was deleted while the provider was asked. */
  const stored = (userId: Uuid, client: ExternalAuthClient, given: ExternalAuthTokenSet) =>
    Effect.filterOrFail(
      tokens.store(userId, client, given),
      (isStored) => isStored,
      () => new NotFound({ resource: "user" })
    )

  const deviceOf = (id: string) =>
    Effect.filterOrFail(
      clientOf(id),
      ({ provider }) => provider.device_flow,
      () => noDevice
    )

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

    startDevice: Traced.fn("ExternalAuth.startDevice")(function* (id: string) {
      const client = yield* deviceOf(id)
      yield* ownUser("update_personal")
      return yield* Effect.mapError(client.startDevice, upstreamFailure)
    }),

    completeDevice: Traced.fn("ExternalAuth.completeDevice")(function* (id: string, deviceCode: string) {
      const client = yield* deviceOf(id)
      const userId = yield* ownUser("update_personal")
      if (deviceCode === "") return yield* Invalid.field("device_code", "is required")
      const given = yield* Effect.mapError(
        client.exchangeDevice(deviceCode),
        (error) =>
          new Invalid({
            message: "The provider does not give a token yet.",
            detail: error._tag === "ExternalAuthRefused" ? error.code : error.detail
          })
      )
      yield* stored(userId, client, given)
    }, Effect.uninterruptible),

    redirecting: Traced.fn("ExternalAuth.redirecting")(function* (id: string) {
      const client = yield* clientOf(id)
      if (client.provider.device_flow) return yield* new NotFound({ resource: "external_auth" })
      yield* ownUser("update_personal")
      return client
    }),

    complete: Traced.fn("ExternalAuth.complete")(function* (
      client: ExternalAuthClient,
      response: { readonly code: string; readonly redirect_uri: string; readonly code_verifier: Redacted.Redacted<string> }
    ) {
      const userId = yield* ownUser("update_personal")
      const given = yield* Effect.mapError(client.exchange(response), (error) =>
        error._tag === "ExternalAuthFailure"
          ? upstreamFailure(error)
          : new UpstreamFailure({ message: "The provider refused the code.", detail: `${error.code}: ${error.detail}` })
      )
      yield* stored(userId, client, given)
    }, Effect.uninterruptible)
  }
})

/** The links of users to external providers, such as git hosts. Each user has its own. deployment.md §10. */
export class ExternalAuth extends Context.Tag("@atelier/core/ExternalAuth")<ExternalAuth, ExternalAuthService>() {
  static readonly layer = standingOn(service(ExternalAuth, make), ExternalAuthTokens.layer)
}
