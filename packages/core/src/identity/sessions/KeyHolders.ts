import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { NotFound } from "../../platform/Errors.js"
import type { ApiKey } from "./ApiKey.js"
import type { Users } from "../users/Users.js"

export const readable = (key: Option.Option<ApiKey>) =>
  Access.visible(Option.getOrNull(key), AccessObjects.apiKey, new NotFound({ resource: "api_key" }))

export const missing = new NotFound({ resource: "api_key" })

interface Needs {
  readonly users: Users["Type"]
}

/** Whose keys an actor may read and make. */
export const keyHolders = ({ users }: Needs) => {
  /** The user whose keys are meant. The service's own accounts have none, and are as if they were nowhere. */
  const holder = Effect.fnUntraced(function* (reference: string) {
    const user = yield* users.holder(reference)
    if (user.is_system) return yield* new NotFound({ resource: "user" })
    return user
  })

  /** The user a key is made for. */
  const newHolder = Effect.fnUntraced(function* (reference: string) {
    const user = yield* holder(reference)
    if (user.deleted) return yield* new NotFound({ resource: "user" })
    return user
  })

  return { holder, newHolder }
}

/** The result of {@link keyHolders}. */
export type KeyHolders = ReturnType<typeof keyHolders>
