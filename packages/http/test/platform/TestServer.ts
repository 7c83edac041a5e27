/** An interface of a few endpoints of the test's own, on a real socket. */
import { type HttpApi, type HttpApiGroup } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { sessionActor, type Actor } from "@atelier/core/access"
import { Unauthenticated, Uuid } from "@atelier/core/platform"
import { Clock, Effect, Layer, Logger, Redacted } from "effect"
import { createServer, type ServerOptions } from "node:http"
import type { AddressInfo } from "node:net"
import { namesOf } from "../../src/Brand.js"
import type { Authenticated, OptionallyAuthenticated } from "../../src/contract/authentication.js"
import { type Dialect, Wire } from "../../src/dialect.js"
import { layerUsers } from "../../src/server/Authentication.js"
import { UserCredentials } from "../../src/server/Credentials.js"
import * as HttpApplication from "../../src/server/HttpApplication.js"
import * as NodeListener from "../../src/server/NodeListener.js"
import { RateLimiter } from "../../src/server/RateLimiter.js"
import { type HttpSettings, Settings } from "../../src/server/Settings.js"

export const ownerId = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000001")
export const memberId = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000002")

const actors: ReadonlyMap<string, Actor> = new Map([
  ["ownertoken-0000000000000000000000", sessionActor({ userId: ownerId, siteRoles: ["owner"], memberships: [] })],
  ["membertokn-0000000000000000000000", sessionActor({ userId: memberId, siteRoles: [], memberships: [] })]
])

export const ownerToken = "ownertoken-0000000000000000000000"
export const memberToken = "membertokn-0000000000000000000000"

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
  trustedProxies: { origins: [], headers: ["X-Forwarded-For"] },
  cookies: { secure: false, sameSite: "lax", hostPrefix: false },
  rateLimit: { api: 512, disableAll: false },
  allowAllCors: false,
  redirectToAccessUrl: false,
  strictTransportSecurity: undefined,
  swagger: { enable: false },
  maximumMessage: 4 * 1024 * 1024
}

export interface Options extends Partial<HttpSettings> {
  readonly wire?: Dialect
  readonly clock?: Clock.Clock
  readonly logger?: Logger.Logger<unknown, void>
  readonly server?: ServerOptions
  readonly pages?: ReadonlyArray<HttpApplication.Page>
}

/** What the handlers of a test may need. */
type Provided = RateLimiter | Settings | Authenticated | OptionallyAuthenticated

/** The listeners of an interface. */
export const listen = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  groups: Layer.Layer<HttpApiGroup.HttpApiGroup.ToService<Id, Groups>, never, Provided>,
  { clock, logger, pages, wire = "seeds", ...changed }: Options = {}
) =>
  Effect.gen(function* () {
    const application = yield* HttpApplication.make(api, groups.pipe(Layer.provide(layerUsers)), pages)
    const listener = yield* NodeListener.make(application, {
      owns: HttpApplication.owns(api, changed.basePath ?? "", pages),
      tracing: false,
      drainTimeout: "5 seconds"
    })
    return { application, listener }
  }).pipe(
    Effect.provide(NodeHttpServer.layerContext),
    Effect.provide(credentials),
    Effect.provide(RateLimiter.layer(changed.rateLimit ?? settings.rateLimit)),
    Effect.provide(Layer.mergeAll(Layer.succeed(Settings, { ...settings, ...changed }), Layer.succeed(Wire, wire))),
    Effect.provide(
      Layer.mergeAll(Logger.replace(Logger.defaultLogger, logger ?? Logger.none), clock === undefined ? Layer.empty : Layer.setClock(clock))
    )
  )
export type { AddressInfo }
export { createServer }
