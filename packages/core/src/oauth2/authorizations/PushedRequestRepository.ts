import { Context, type Effect, type Option, Schema } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import type { Hashed } from "../tokens/GrantRepository.js"
import type { WaitingRows } from "../WaitingRows.js"

/** The parameters of an authorization request as they are stored. Those that the client left out are absent. */
export const PushedParameters = Schema.Struct({
  response_type: Schema.optional(Schema.String),
  response_mode: Schema.optional(Schema.String),
  prompt: Schema.optional(Schema.String),
  redirect_uri: Schema.optional(Schema.String),
  scope: Schema.optional(Schema.String),
  state: Schema.optional(Schema.String),
  resource: Schema.Array(Schema.String),
  code_challenge: Schema.optional(Schema.String),
  code_challenge_method: Schema.optional(Schema.String),
  dpop_jkt: Schema.optional(Schema.String)
})
export interface PushedParameters extends Schema.Schema.Type<typeof PushedParameters> {}

/** An authorization request that a client has sent ahead. */
export interface PushedRequest {
  /** The public part of its reference. */
  readonly prefix: string
  readonly app_id: Uuid
  readonly request: PushedParameters
  readonly expires_at: Timestamp
}

export class PushedRequestRepository extends Context.Tag("@atelier/core/PushedRequestRepository")<
  PushedRequestRepository,
  {
    /** Outside of transactions. False when there is no such app. */
    readonly insert: (request: PushedRequest, hashedSecret: Uint8Array) => Effect.Effect<boolean>
    readonly byPrefix: (prefix: string) => Effect.Effect<Option.Option<Hashed<PushedRequest>>>
    /** False when it is deleted already. */
    readonly delete: (prefix: string) => Effect.Effect<boolean>
  } & WaitingRows
>() {}
