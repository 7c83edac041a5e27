import type { HttpApi, HttpApiGroup } from "@effect/platform"
/** An interface of a few endpoints of the test's own, on a real socket. */
import { type Actor, CurrentActor, rightTo, sessionActor, StreamRights } from "@atelier/core/access"
import { EventBus, makeAlarms, Unauthenticated, Uuid } from "@atelier/core/platform"
import { type Clock, type Duration, Effect, Layer, Logger, Redacted, type Scope } from "effect"
import { createServer, type Server } from "node:http"
import { connect } from "node:net"
import { namesOf } from "../src/wire/Brand.js"
import type { Authenticated, OptionallyAuthenticated } from "../src/contract/authentication.js"
import { type Dialect, Wire } from "../src/wire/dialect.js"
import { RequestReferences } from "../src/server/operate/RequestReferences.js"
import { layerUsers } from "../src/server/credentials/Authentication.js"
import { UserCredentials } from "../src/server/credentials/Credentials.js"
import { Draining } from "../src/server/operate/Draining.js"
import { FeedRuntime } from "../src/server/operate/FeedRuntime.js"
import { Heartbeat } from "../src/server/operate/Heartbeat.js"
import { type Implementation, routesOf } from "../src/server/pipeline/Routes.js"
import * as HttpApplication from "../src/server/pipeline/HttpApplication.js"
import * as NodeListener from "../src/server/listener/NodeListener.js"
import { RateLimiter } from "../src/server/request/RateLimiter.js"
import { StoreFaults } from "../src/server/operate/StoreFaults.js"
import { type HttpSettings, Settings } from "../src/server/request/Settings.js"
import { WebSockets } from "../src/sockets/WebSockets.js"
import { describe } from "../src/swagger/describe.js"
import { swaggerPages } from "../src/swagger/pages.js"

export const ownerId = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000001")
export const memberId = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000002")

const actors: ReadonlyMap<string, Actor> = new Map([
  ["ownertoken-0000000000000000000000", sessionActor({ userId: ownerId, siteRoles: ["owner"], memberships: [] })],
  ["membertokn-0000000000000000000000", sessionActor({ userId: memberId, siteRoles: [], memberships: [] })]
])

export const ownerToken = "ownertoken-0000000000000000000000"
export const memberToken = "membertokn-0000000000000000000000"

/** The right to a stream that nothing takes from its caller. */
export const anyRight = Effect.runSync(
  Effect.provideService(
    Effect.map(
      rightTo("anything", () => Effect.void),
      ([right]) => right
    ),
    CurrentActor,
    sessionActor({ userId: memberId, siteRoles: [], memberships: [] })
  )
)

/** Knows the two tokens above. */
const credentials = Layer.succeed(UserCredentials, {
  authenticate: (token, info) => {
    const actor = actors.get(Redacted.value(token))
    return actor === undefined
      ? Effect.fail(new Unauthenticated({ message: "The session token is invalid." }))
      : Effect.succeed({ ...actor, ...info })
  }
})

export const settings: HttpSettings = {
  accessUrl: "http://atelier.test",
  names: namesOf(),
  version: "v1.2.3",
  basePath: "",
  mount: "",
  login: "/login",
  console: undefined,
  appearance: { name: "", logo: "", accent: undefined },
  trustedProxies: { origins: [], headers: ["X-Forwarded-For"] },
  cookies: { secure: false, sameSite: "lax", hostPrefix: false },
  rateLimit: { api: 512, disableAll: false },
  cors: { allowAll: false, origins: new Set(), names: namesOf() },
  takesAccessTokenQuery: false,
  redirectToAccessUrl: false,
  strictTransportSecurity: undefined,
  policyAdditions: new Map(),
  swagger: { enable: false },
  maximumMessage: 4 * 1024 * 1024
}

export interface Options extends Partial<HttpSettings> {
  readonly wire?: Dialect
  readonly clock?: Clock.Clock
  readonly logger?: Logger.Logger<unknown, void>
  readonly drainTimeout?: Duration.DurationInput
  readonly lingerTimeout?: Duration.DurationInput
  /** Loads what implements the endpoints; at once unless given. */
  readonly load?: () => Promise<void>
}

/** What the handlers of a test may need. */
type Provided =
  | RateLimiter
  | Settings
  | WebSockets
  | Draining
  | FeedRuntime
  | Heartbeat
  | StreamRights
  | Authenticated
  | OptionallyAuthenticated
  | Scope.Scope

/** The listeners of an interface. */
export const listen = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  implemented: Effect.Effect<Implementation<string>, never, Provided>,
  {
    clock,
    drainTimeout = "5 seconds",
    lingerTimeout = "5 seconds",
    load = () => Promise.resolve(),
    logger,
    wire = "standard",
    ...changed
  }: Options = {}
) =>
  // They ring until the scope closes, and not only until the layers are built
  Effect.flatMap(clock === undefined ? makeAlarms : Effect.withClock(makeAlarms, clock), (alarms) =>
    Effect.gen(function* () {
      const pages = yield* swaggerPages((presented) => Promise.resolve(describe(api, presented)))
      const routes = routesOf(api)
      const groups = Object.fromEntries(routes.map(({ group = "" }) => [group, () => load().then(() => implemented)]))
      const { application, direct, owns } = yield* HttpApplication.make(routes, groups, pages).pipe(Effect.provide(layerUsers))
      return yield* NodeListener.make(application, {
        direct,
        owns,
        tracing: false,
        drainTimeout,
        lingerTimeout
      })
    }).pipe(
      Effect.provide(
        Layer.mergeAll(WebSockets.layer, RateLimiter.layer(changed.rateLimit ?? settings.rateLimit)).pipe(
          Layer.provideMerge(StoreFaults.layer),
          Layer.provideMerge(Layer.provide(StreamRights.layer, EventBus.layerMemory)),
          Layer.provideMerge(Draining.layer),
          Layer.provideMerge(Layer.succeed(Heartbeat, alarms)),
          Layer.provideMerge(FeedRuntime.layer({ tracing: false })),
          Layer.provideMerge(credentials),
          Layer.provideMerge(
            RequestReferences.keep(Layer.mergeAll(Layer.succeed(Settings, { ...settings, ...changed }), Layer.succeed(Wire, wire)))
          ),
          Layer.provide(
            Layer.mergeAll(
              Logger.replace(Logger.defaultLogger, logger ?? Logger.none),
              clock === undefined ? Layer.empty : Layer.setClock(clock)
            )
          )
        )
      )
    )
  )

/** A server that listens on a free port until the scope closes. */
export const listening = (server: Server) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<number>((resume) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          if (address !== null && typeof address === "object") resume(Effect.succeed(address.port))
        })
      }),
      () =>
        Effect.async<void>((resume) => {
          server.closeAllConnections()
          server.close(() => resume(Effect.void))
        })
    ),
    (port) => ({ port, url: `http://127.0.0.1:${port}` })
  )

/** An interface on a socket of its own. */
export const serve = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  implemented: Effect.Effect<Implementation<string>, never, Provided>,
  options: Options = {}
) =>
  Effect.gen(function* () {
    const { handler, upgrade } = yield* listen(api, implemented, options)
    const server = createServer(handler).on("upgrade", upgrade)
    return yield* listening(server)
  })

/** A response with its body read. */
export const request = (url: string, init?: RequestInit) =>
  Effect.promise(async () => {
    const response = await fetch(url, { redirect: "manual", ...init })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: (): unknown => JSON.parse(text) }
  })

/** What a server sends back for raw bytes until it closes the connection or falls silent behind the marker. */
export const exchange = (port: number, bytes: string | Uint8Array, until: RegExp = /\r\n\r\n/) =>
  Effect.async<string>((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes))
    let received = ""
    const done = (): void => {
      socket.destroy()
      resume(Effect.succeed(received))
    }
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1")
      if (until.test(received)) done()
    })
    socket.on("error", done)
    socket.on("close", done)
    return Effect.sync(() => socket.destroy())
  })
