import { Context, Effect, Layer } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { Uuid } from "../../platform/Uuid.js"
import { AutofillRepository } from "./AutofillRepository.js"
import { Users } from "../users/Users.js"

const make = Effect.gen(function* () {
  const users = yield* Users
  const repository = yield* AutofillRepository

  return {
    /**
     * What the user last gave for each parameter of a template, to offer it again; of the newest builds first. Fails with `NotFound` for
     * whoever may not read the user's personal data. identity.md §8.7.
     */
    parameters: Effect.fn("Autofill.parameters")(function* (reference: string, templateId: Uuid) {
      const user = yield* users.get(reference)
      yield* Access.authorizeOrHide("read_personal", AccessObjects.user(user))
      return yield* repository.latestValues(user.id, templateId)
    })
  }
})

/** What forms for new workspaces are filled in with. */
export class Autofill extends Context.Tag("@atelier/core/Autofill")<Autofill, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Autofill, make)
}
