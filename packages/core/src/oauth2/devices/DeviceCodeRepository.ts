import { Context, type Effect, type Option } from "effect"
import type { Duplicate } from "../../platform/Errors.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { DeviceCode } from "./DeviceCode.js"
import type { Hashed } from "../tokens/GrantRepository.js"
import type { WaitingRows } from "../WaitingRows.js"

export class DeviceCodeRepository extends Context.Tag("@atelier/core/DeviceCodeRepository")<
  DeviceCodeRepository,
  {
    /** Outside of transactions. False when there is no such app. Fails where the user code is in use. */
    readonly insert: (
      device: DeviceCode,
      hashes: { readonly hashedSecret: Uint8Array; readonly hashedUserCode: Uint8Array }
    ) => Effect.Effect<boolean, Duplicate>
    readonly byPrefix: (prefix: string) => Effect.Effect<Option.Option<Hashed<DeviceCode>>>
    readonly byUserCode: (hashedUserCode: Uint8Array) => Effect.Effect<Option.Option<DeviceCode>>
    /** As it is now, and kept from other writers until the transaction ends. */
    readonly lock: (id: Uuid) => Effect.Effect<Option.Option<DeviceCode>>
    /** Writes the answer of a user. False when there is an answer already. */
    readonly answer: (
      id: Uuid,
      answer: { readonly status: "approved" | "denied"; readonly user_id: Uuid; readonly consent_key_id: string | null }
    ) => Effect.Effect<boolean>
    readonly recordPoll: (id: Uuid, at: Timestamp, intervalSeconds: number) => Effect.Effect<void>
    /** False when it is deleted already. */
    readonly delete: (id: Uuid) => Effect.Effect<boolean>
  } & WaitingRows
>() {}
