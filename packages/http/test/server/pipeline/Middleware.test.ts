import { expect, it } from "@effect/vitest"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware } from "@effect/platform"
import { Context, Effect, Schema } from "effect"
import { commonRefusals } from "../../../src/wire/errors.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { request, serve } from "../../TestServer.js"

class Caller extends Context.Tag("Caller")<Caller, string>() {}

class Known extends HttpApiMiddleware.Tag<Known>()("Known", { provides: Caller }) {}

const things = HttpApiGroup.make("things").add(HttpApiEndpoint.get("read", "/api/v2/things").addSuccess(Schema.String).middleware(Known))

class Api extends HttpApi.make("middleware").add(things).addError(commonRefusals) {}

// A statement that waits for a transaction's end takes the connection like this. A finalizer leaves its fiber with a copy of the services
const taking = Effect.scoped(Effect.acquireRelease(Effect.void, () => Effect.void))

it.scopedLive("a service of a middleware that has closed a scope reaches the handler", () =>
  Effect.gen(function* () {
    const handlers = Handlers.group(things, (group) => group.handle("read", () => Caller))
    const { url } = yield* serve(Api, Effect.provideService(handlers, Known, Effect.as(taking, "ada")))
    const { json, status } = yield* request(`${url}/api/v2/things`)
    expect([status, json()]).toStrictEqual([200, "ada"])
  })
)
