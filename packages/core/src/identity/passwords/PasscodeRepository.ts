import { Context, type Effect, type Option } from "effect"
import type { Sealed } from "../../platform/secrets/Encryption.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Passcode } from "./Passcode.js"
import type { User, UserId } from "../users/User.js"

/** A user who may use a code, with the hashes to compare against. */
export interface PasscodeHolder extends Pick<User, "id" | "username" | "login_type"> {
  readonly hashed_password: string | null
  /** The user's code, expired or not. */
  readonly passcode: Passcode | null
}

/** A code on its way to its user. */
export interface UnsentPasscode extends Pick<Passcode, "id" | "user_id" | "expires_at">, Pick<User, "email" | "username" | "name"> {
  readonly sealed: Sealed
}

export class PasscodeRepository extends Context.Tag("@atelier/core/PasscodeRepository")<
  PasscodeRepository,
  {
    /** By e-mail address without regard to case, among those not deleted. */
    readonly holder: (email: string) => Effect.Effect<Option.Option<PasscodeHolder>>
    readonly ofUser: (id: UserId) => Effect.Effect<Option.Option<Passcode>>
    /** Stores a code in place of the user's former one. `sealed` is the encrypted code, for a code that will be mailed. */
    readonly replace: (passcode: Passcode, sealed: Sealed | null, at: Timestamp) => Effect.Effect<void>
    /** Unexpired codes that are due now, of users that are not deleted; the oldest first. */
    readonly unsent: (now: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<UnsentPasscode>>
    /** Has the code sent later, unless another one has replaced it. */
    readonly postpone: (id: Uuid, until: Timestamp) => Effect.Effect<void>
    /** Forgets the code itself. What remains can only verify a code. */
    readonly forget: (id: Uuid) => Effect.Effect<void>
    /** Deletes at most `limit` codes that expired before an instant. Returns how many. */
    readonly purge: (before: Timestamp, limit: number) => Effect.Effect<number>
  }
>() {}
