/**
 * What the interface costs beside the platform's own: requests per second of an empty endpoint served bare by `HttpLayerRouter` and
 * through everything that surrounds an endpoint here. Run it with `node scripts/bench/run.mjs pipeline`.
 */
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpLayerRouter, HttpMiddleware } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { CurrentActor, sessionActor } from "@atelier/core/access"
import { Uuid } from "@atelier/core/platform"
import { Context, Effect, Layer, Schema, type Scope } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { namesOf } from "../../packages/http/src/Brand.js"
import { Authenticated } from "../../packages/http/src/contract/authentication.js"
import { refusals } from "../../packages/http/src/errors.js"
import * as Handlers from "../../packages/http/src/handlers/Handlers.js"
import { layerUsers } from "../../packages/http/src/server/Authentication.js"
import { UserCredentials } from "../../packages/http/src/server/Credentials.js"
import { Draining } from "../../packages/http/src/server/Draining.js"
import * as HttpApplication from "../../packages/http/src/server/HttpApplication.js"
import * as NodeListener from "../../packages/http/src/server/NodeListener.js"
import { RateLimiter } from "../../packages/http/src/server/RateLimiter.js"
import { Settings } from "../../packages/http/src/server/Settings.js"

class Bare extends HttpApi.make("bare").add(
  HttpApiGroup.make("things").add(HttpApiEndpoint.get("empty", "/api/v2/empty").addSuccess(Schema.Struct({ ok: Schema.Boolean })))
) {}

class Full extends HttpApi.make("full")
  .add(
    HttpApiGroup.make("things")
      .add(HttpApiEndpoint.get("empty", "/api/v2/empty").addSuccess(Schema.Struct({ ok: Schema.Boolean })))
      .add(
        HttpApiEndpoint.get("me", "/api/v2/me")
          .addSuccess(Schema.Struct({ id: Uuid.Uuid }))
          .middleware(Authenticated)
      )
  )
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError")) {}

const bareListener = Effect.gen(function* () {
  const layer = HttpLayerRouter.addHttpApi(Bare).pipe(
    Layer.provide(HttpApiBuilder.group(Bare, "things", (handlers) => handlers.handle("empty", () => Effect.succeed({ ok: true })))),
    Layer.provideMerge(HttpLayerRouter.layer),
    Layer.provide(NodeHttpServer.layerContext)
  )
  const context = yield* Layer.build(layer)
  return yield* NodeHttpServer.makeHandler(Effect.orDie(Context.get(context, HttpLayerRouter.HttpRouter).asHttpEffect()))
}).pipe(
  Effect.withTracerEnabled(false),
  Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => true)
)

const user = sessionActor({ userId: Uuid.Uuid.make("018f0000-0000-7000-8000-000000000002"), siteRoles: [], memberships: [] })

const fullListener = Effect.gen(function* () {
  const groups = Handlers.group(Full, "things", (handlers) =>
    handlers
      .handle("empty", () => Effect.succeed({ ok: true }))
      .handle("me", () => Effect.map(CurrentActor, ({ userId }) => ({ id: userId })))
  ).pipe(Layer.provide(layerUsers))
  const application = yield* HttpApplication.make(Full, groups)
  const { handler } = yield* NodeListener.make(application, { owns: () => true, tracing: false, drainTimeout: 0 })
  return handler
}).pipe(
  Effect.provide(Draining.layer),
  Effect.provide(Layer.succeed(UserCredentials, { authenticate: () => Effect.succeed(user) })),
  Effect.provide(RateLimiter.layer({ api: 1_000_000_000, disableAll: false })),
  Effect.provide(
    Layer.succeed(Settings, {
      accessUrl: "http://127.0.0.1",
      names: namesOf(),
      version: "v0.0.0",
      basePath: "",
      trustedProxies: { origins: [], headers: [] },
      cookies: { secure: false, sameSite: "lax", hostPrefix: false },
      rateLimit: { api: 1_000_000_000, disableAll: false },
      allowAllCors: false,
      redirectToAccessUrl: false,
      strictTransportSecurity: undefined,
      swagger: { enable: false },
      maximumMessage: 0
    })
  )
)

const listeners: Readonly<Record<string, Effect.Effect<RequestListener, never, Scope.Scope>>> = {
  bare: bareListener,
  full: fullListener
}
const listener = listeners[process.argv[2] ?? "full"]
if (listener === undefined) throw new Error(`no such listener: ${process.argv[2]}`)
void Effect.runPromise(
  Effect.scoped(
    Effect.flatMap(listener, (handler) =>
      Effect.async<never>(() => {
        const server = createServer(handler)
        server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port))
        // Processor time is steadier than throughput on a machine that does other things too
        process.on("message", () => process.send?.(process.cpuUsage()))
      })
    )
  )
)
