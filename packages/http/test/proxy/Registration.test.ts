import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Redacted, Ref, Scope, TestClock } from "effect"
import { createServer } from "node:http"
import { keepRegistered } from "../../src/proxy/Registration.js"
import { SilentConnections } from "../../src/proxy/SilentConnections.js"
import { namesOf } from "../../src/wire/Brand.js"

/** A service that takes registrations and never answers when a proxy leaves; `left` completes when one does. */
const aService = Effect.gen(function* () {
  const left = yield* Deferred.make<void>()
  const server = yield* Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const made = createServer((request, response) => {
        if (request.url?.endsWith("/deregister") === true) Deferred.unsafeDone(left, Exit.void)
        else response.writeHead(201, { "content-type": "application/json" }).end("{}")
      })
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) =>
      Effect.sync(() => {
        made.close()
        made.closeAllConnections()
      })
  )
  const address = server.address()
  return { left, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : address}` }
})

it.scoped("the end of a proxy does not wait for a service that does not answer", () =>
  Effect.gen(function* () {
    const { left, url } = yield* aService
    const scope = yield* Scope.make()
    const registrant = {
      primaryAccessUrl: url,
      accessUrl: "http://proxy.example.com",
      wildcardAccessUrl: "",
      token: Redacted.make("token"),
      names: namesOf("Atelier"),
      connections: new SilentConnections(6_000)
    }
    yield* Scope.extend(keepRegistered(registrant, yield* Ref.make<string | undefined>(undefined)), scope)
    const ending = yield* Effect.fork(Scope.close(scope, Exit.void))
    yield* Deferred.await(left)
    yield* TestClock.adjust("6 seconds")
    expect(yield* Fiber.join(ending)).toBeUndefined()
  })
)
