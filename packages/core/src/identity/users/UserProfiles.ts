import { Context, Effect, Layer } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import * as Audit from "../../audit/Audit.js"
import { pictureViolation } from "../../platform/Address.js"
import { Conflict, refuseViolations, validationsOf } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/Timestamp.js"
import { accountWrite, lockedAccount, refuseSystem } from "./Account.js"
import { AccountRepository } from "./AccountRepository.js"
import { profileViolations, type User } from "./User.js"
import { Users } from "./Users.js"
import { standingOn } from "../../platform/Standing.js"

/** A whole profile: fields that are absent on the wire are empty here, and are cleared. */
export type Profile = Pick<User, "username" | "name" | "avatar_url">

/** The longest address of a picture, in characters. */
const maximumAvatarLength = 2048

/** The rules that a profile breaks, one entry per field. */
const violations = ({ avatar_url, name, username }: Profile, { email }: User) => [
  ...profileViolations({ email, username, name }).filter(({ field }) => field !== "email"),
  ...validationsOf({ avatar_url: pictureViolation(avatar_url, maximumAvatarLength) })
]

const make = Effect.gen(function* () {
  const users = yield* Users
  const accounts = yield* AccountRepository

  return {
    /**
     * Replaces the names and the picture of a user. Users who log in at a provider keep its picture. Fails with `Invalid` by the rules of a
     * profile, which are checked first; `NotFound` if the actor may not change the user's personal data or its username; `Conflict` for a
     * taken username; and `Forbidden` for the service's own users. identity.md §8.7.
     */
    update: Effect.fn("UserProfiles.update")(function* (reference: string, profile: Profile) {
      const user = yield* users.get(reference)
      const after = yield* Audit.audited(
        accountWrite(user),
        Effect.gen(function* () {
          const before = yield* lockedAccount(accounts, user.id)
          yield* refuseViolations(violations(profile, before))
          yield* Access.authorizeOrHide("update_personal", AccessObjects.user(before))
          if (profile.username !== before.username) yield* Access.authorizeOrHide("update", AccessObjects.user(before))
          yield* refuseSystem(before)
          const isOwnPicture = before.login_type === "password" || before.login_type === "none"
          const avatar_url = isOwnPicture ? profile.avatar_url : before.avatar_url
          const value: User = { ...before, ...profile, avatar_url, updated_at: yield* Timestamp.now }
          yield* Effect.mapError(accounts.updateProfile(value), () => taken)
          return { value, before, after: value }
        })
      )
      return { ...after, organization_ids: user.organization_ids }
    })
  }
})

const taken = new Conflict({
  message: "A user with this username already exists.",
  validations: [{ field: "username", detail: "is taken" }]
})

/** The public profiles of users. */
export class UserProfiles extends Context.Tag("@atelier/core/UserProfiles")<UserProfiles, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(UserProfiles, make), Users.layer)
}
