// What the same HTTP stack costs by itself: one endpoint of an `HttpApi` that answers a constant, served by the same listener.
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpLayerRouter, HttpMiddleware } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Effect, Layer, Schema, Scope } from "effect"

class Api extends HttpApi.make("empty").add(
  HttpApiGroup.make("things").add(HttpApiEndpoint.get("empty", "/api/v2/empty").addSuccess(Schema.Struct({ ok: Schema.Boolean })))
) {}

const group = HttpApiBuilder.group(Api, "things", (handlers) => handlers.handle("empty", () => Effect.succeed({ ok: true })))

/** Spans are off unless asked for, as they are in the service. */
export const emptyRouteListener = ({ tracing = false }) =>
  Effect.gen(function* () {
    const layer = HttpLayerRouter.addHttpApi(Api).pipe(
      Layer.provide(group),
      Layer.provideMerge(HttpLayerRouter.layer),
      Layer.provide(NodeHttpServer.layerContext)
    )
    const context = yield* Layer.build(layer)
    return yield* NodeHttpServer.makeHandler(Effect.orDie(Context.get(context, HttpLayerRouter.HttpRouter).asHttpEffect()))
  }).pipe(
    Effect.withTracerEnabled(tracing),
    Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => !tracing),
    Effect.provideService(Scope.Scope, Effect.runSync(Scope.make())),
    Effect.runPromise
  )
