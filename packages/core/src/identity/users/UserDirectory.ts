import { Context, Effect, Layer } from "effect"
import * as Access from "../../access/Access.js"
import type { Page } from "../../platform/Pagination.js"
import { withReadableMemberships } from "./Memberships.js"
import { UserDirectoryRepository } from "./UserDirectoryRepository.js"
import { parseUserSearch } from "./UserSearch.js"

const make = Effect.gen(function* () {
  const directory = yield* UserDirectoryRepository

  return {
    /**
     * The users the actor may read that match a search, by username: a plain member finds itself alone. Fails with `Invalid` for a search
     * that says nothing, naming each filter that is wrong. identity.md §10.
     */
    list: Effect.fn("UserDirectory.list")(function* (search: string, page: Page) {
      const filter = yield* parseUserSearch(search)
      const readable = yield* Access.predicate("read", "user")
      const { count, users } = yield* directory.page({ ...page, filter, readable })
      return { count, users: yield* Effect.forEach(users, withReadableMemberships) }
    })
  }
})

/** The list of users. */
export class UserDirectory extends Context.Tag("@atelier/core/UserDirectory")<UserDirectory, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(UserDirectory, make)
}
