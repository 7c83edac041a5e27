import { Context, type Effect, type Option } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { OAuth2App, OAuth2AppSecret } from "./OAuth2App.js"

/** A client secret with the hash that a presented one is compared with. */
export interface HashedAppSecret extends OAuth2AppSecret {
  readonly hashed_secret: Uint8Array
}

export class OAuth2AppRepository extends Context.Tag("@atelier/core/OAuth2AppRepository")<
  OAuth2AppRepository,
  {
    /** All apps, by name and id. */
    readonly list: Effect.Effect<ReadonlyArray<OAuth2App>>
    /** The apps that have an access token of the user, by name and id. */
    readonly ofUser: (userId: Uuid) => Effect.Effect<ReadonlyArray<OAuth2App>>
    readonly byId: (id: Uuid) => Effect.Effect<Option.Option<OAuth2App>>
    /** Keeps it from being changed or deleted by others until the transaction ends. */
    readonly lock: (id: Uuid) => Effect.Effect<Option.Option<OAuth2App>>
    /** The hash of a client's registration access token; none for a client without one. */
    readonly hashedRegistrationToken: (id: Uuid) => Effect.Effect<Option.Option<Uint8Array>>
    readonly insert: (app: OAuth2App, hashedRegistrationToken: Uint8Array | null) => Effect.Effect<void>
    /** Inserts an app without a registration token, unless it is there. */
    readonly insertMissing: (app: OAuth2App) => Effect.Effect<void>
    /** Writes what describes an app; not its last use. */
    readonly update: (app: OAuth2App) => Effect.Effect<void>
    /** Deletes an app with its secrets, codes and tokens; false if the app does not exist. */
    readonly delete: (id: Uuid) => Effect.Effect<boolean>
    readonly recordUse: (id: Uuid, at: Timestamp) => Effect.Effect<void>
    /** How many clients have registered themselves that no user ever gave a permission; counted no further than `limit`. */
    readonly countUnused: (limit: number) => Effect.Effect<number>
    /**
     * Deletes at most `limit` clients that registered themselves before an instant and that no user ever gave a permission, the oldest first.
     * Returns how many.
     */
    readonly deleteUnused: (before: Timestamp, limit: number) => Effect.Effect<number>
    /** An app's secrets, oldest first. */
    readonly secrets: (appId: Uuid) => Effect.Effect<ReadonlyArray<OAuth2AppSecret>>
    readonly secret: (id: Uuid) => Effect.Effect<Option.Option<OAuth2AppSecret>>
    readonly secretByPrefix: (prefix: string) => Effect.Effect<Option.Option<HashedAppSecret>>
    readonly insertSecret: (secret: HashedAppSecret, prefix: string) => Effect.Effect<void>
    /** Deletes a secret with the grants that were redeemed with it; false if the secret does not exist. */
    readonly deleteSecret: (id: Uuid) => Effect.Effect<boolean>
    /** Writes that a secret was used, unless a later use is written. */
    readonly recordSecretUse: (id: Uuid, at: Timestamp, unlessSince: Timestamp) => Effect.Effect<void>
    /** Whether clients may register themselves; none until a setting is stored. */
    readonly registrationEnabled: Effect.Effect<Option.Option<boolean>>
    readonly setRegistrationEnabled: (enabled: boolean) => Effect.Effect<void>
  }
>() {}
