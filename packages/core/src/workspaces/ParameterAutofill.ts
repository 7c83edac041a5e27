import { Context, Effect, Layer } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { Users } from "../identity/users/Users.js"
import type { Uuid } from "../platform/Uuid.js"
import { ParameterAutofillRepository } from "./ParameterAutofillRepository.js"
import { standingOn } from "../platform/Standing.js"

const make = Effect.gen(function* () {
  const users = yield* Users
  const repository = yield* ParameterAutofillRepository

  return {
    /**
     * The user's last value for each parameter of a template, to offer it again; newest builds first. Fails with `NotFound` if the actor
     * may not read the user's personal data. identity.md §8.7.
     */
    list: Effect.fn("ParameterAutofill.list")(function* (reference: string, templateId: Uuid) {
      const user = yield* users.get(reference)
      yield* Access.authorizeOrHide("read_personal", AccessObjects.user(user))
      return yield* repository.latestValues(user.id, templateId)
    })
  }
})

/** Values that forms for new workspaces start with. */
export class ParameterAutofill extends Context.Tag("@atelier/core/ParameterAutofill")<
  ParameterAutofill,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = standingOn(Layer.effect(ParameterAutofill, make), Users.layer)
}
