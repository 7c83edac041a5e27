import { Locks } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Scope } from "effect"
import { freshDatabaseUrl } from "../../../test/store/databases.js"
import { aWayTo } from "../../../test/outside/ways.js"

describe("a server that does not answer any more", () => {
  it.scopedLive("is not waited for at the end", () =>
    Effect.gen(function* () {
      const { block, url } = yield* Effect.flatMap(freshDatabaseUrl, aWayTo)
      const scope = yield* Scope.make()
      const locks = Context.get(yield* Layer.buildWithScope(Postgres.layer({ url, maxConnections: 2 }), scope), Locks)
      expect(yield* locks.tryWith("reaper", Effect.succeed(1))).toStrictEqual(Option.some(1))
      block()
      yield* Scope.close(scope, Exit.void)
    })
  )
})
