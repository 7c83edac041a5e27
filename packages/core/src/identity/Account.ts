import { Effect } from "effect"
import type * as Audit from "../audit/Audit.js"
import { NotFound } from "../platform/Errors.js"
import type { AccountRepository } from "./AccountRepository.js"
import type { User, UserId } from "./User.js"

/** What the audit log says a change of a user is about. */
export const accountWrite = (user: Pick<User, "id" | "username">): Audit.Subject => ({
  action: "write",
  type: "user",
  id: user.id,
  target: user.username
})

/** The user as it is now, kept from other writers until the transaction ends. Fails with `NotFound` for a deleted one. */
export const lockedAccount = (accounts: AccountRepository["Type"], id: UserId): Effect.Effect<User, NotFound> =>
  Effect.flatMap(accounts.lock([id]), ([user]) => (user === undefined ? new NotFound({ resource: "user" }) : Effect.succeed(user)))
