import { Effect, type Redacted } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { Invalid, NotFound, UpstreamFailure } from "../platform/Errors.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { ExternalAuthClient, ExternalAuthClients, ExternalAuthFailure } from "./ExternalAuthClient.js"
import type { ExternalAuthTokenSet } from "./ExternalAuthLink.js"
import type { ExternalAuthTokens } from "./ExternalAuthTokens.js"
import * as Traced from "../platform/wiring/Traced.js"

const noDevice = new Invalid({ message: "The provider does not support the device flow." })

/** Tells the caller of a provider that could not be asked. */
export const upstreamFailure = ({ detail, message }: ExternalAuthFailure): UpstreamFailure => new UpstreamFailure({ message, detail })

/** The actor's own user. Fails with `NotFound` if the actor's credential does not reach personal data. */
export const ownUser = (action: "read_personal" | "update_personal") =>
  Effect.gen(function* () {
    const { userId } = yield* CurrentActor
    yield* Access.authorizeOrHide(action, AccessObjects.user({ id: userId }))
    return userId
  })

interface Needs {
  readonly clients: ExternalAuthClients["Type"]
  readonly tokens: ExternalAuthTokens["Type"]
}

/** How a user links an account of a provider, by a redirection or by a device. */
export const externalAuthLogins = ({ clients, tokens }: Needs) => {
  /** The client of a provider. Fails with `NotFound` for an id that no provider has. */
  const clientOf = (id: string): Effect.Effect<ExternalAuthClient, NotFound> => {
    const client = clients.find(({ provider }) => provider.id === id)
    return client === undefined ? new NotFound({ resource: "external_auth" }) : Effect.succeed(client)
  }

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
    clientOf,

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
}
