/** Serves the apps of workspaces, below paths of the service and at hosts of their own. agents-and-apps.md §19. */
import { CurrentActor, keptDecisions } from "@atelier/core/access"
import { DeploymentOptions } from "@atelier/core/deployment"
import { AppVisits } from "@atelier/core/insights"
import { AgentDialer } from "@atelier/core/network"
import { AppAccess, bareHost } from "@atelier/core/workspaces"
import { services } from "@atelier/core/platform"
import { Context, Effect, Option, type Scope } from "effect"
import { brandOf } from "../pages/brandOf.js"
import { seeOther } from "../pages/PageOptions.js"
import { text } from "../pages/text.js"
import { type Admission, AppServer, type AppServing } from "../server/pipeline/AppServer.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { Settings } from "../server/request/Settings.js"
import { visitReader } from "../server/request/Visit.js"
import { appAdmission } from "./appAdmission.js"
import { isPreflight } from "./appCors.js"
import { AppConnections } from "./AppConnections.js"
import { appExchange } from "./appExchange.js"
import { appMessages } from "./appMessages.js"
import { appPassing } from "./appPassing.js"
import { appPlaces } from "./appPlaces.js"
import type { KeptConnections } from "./forward.js"
import { PlainConnections } from "./PlainConnections.js"
import { appRefusals } from "./appRefusals.js"
import { AppSessions } from "./AppSessions.js"
import { SignedAppTokens } from "./SignedAppTokens.js"
import { makeVisitorTokens, VisitorTokens } from "./VisitorTokens.js"

/** Connections to apps, until the scope closes. */
const keptConnections: Effect.Effect<KeptConnections, never, Scope.Scope> = Effect.acquireRelease(
  Effect.map(Effect.clock, (clock) => ({ plain: new PlainConnections(clock), secured: new AppConnections() })),
  ({ plain, secured }) =>
    Effect.sync(() => {
      plain.destroy()
      secured.destroy()
    })
)

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const access = yield* AppAccess
  const sessions = yield* AppSessions
  const { wildcardAccessUrl } = yield* DeploymentOptions
  const dialer = yield* AgentDialer
  const heartbeat = yield* Heartbeat
  const visits = yield* AppVisits
  const admissions = yield* keptDecisions<Admission>()
  const places = appPlaces(settings, wildcardAccessUrl)
  const { appOf, forwardingOf, originOf, placeOf, preflightAnswer } = places
  const refusals = appRefusals(settings, yield* brandOf, sessions)
  const { refused, shown } = refusals
  const { admit, keyOf } = appAdmission(settings.names, access, yield* SignedAppTokens, placeOf)
  const messages = appMessages(settings, places)
  const connections = yield* keptConnections
  const forwarded = yield* appExchange(messages, places, refusals, connections)
  const { mayPass, pass } = yield* appPassing(messages, connections.plain)
  const failure: AppServing["failure"] = ({ message }) => shown({ status: 502, title: text.appFailed, message, retry: true })

  const apps: AppServing = {
    appOf,
    visitOf: yield* visitReader,
    keyOf,
    find: admissions.find,
    holds: admissions.holds,
    begin: admissions.begin,
    failure,
    mayPass: (request, app, admission) => sessions.broughtBy(app.query, "") === undefined && mayPass(request, app, admission),
    pass,

    noApp: (request) =>
      bareHost(request.headers["host"] ?? "").startsWith(`${settings.names.realm}-logout.`)
        ? Effect.succeed(seeOther(settings.accessUrl))
        : shown({ status: 400, title: text.appInvalid, message: "This host is not the address of an application or port of a workspace." }),

    serve: (request, info, peer, app, finish, kept, keep) => {
      const finished = Effect.map(finish)
      const { host } = forwardingOf(request, info, peer)
      const place = placeOf(info)
      const takesSession = place.isElsewhere || app.address.access_method === "subdomain"
      // Below paths of the service, whose session the browser has, such a key is refused
      const brought = sessions.broughtBy(app.query, takesSession ? host : "")
      if (brought !== undefined) {
        return Effect.flatMap(
          brought,
          Option.match({
            onNone: () =>
              finished(shown({ status: 400, title: text.appInvalid, message: "The link to the application has expired. Open it again." })),
            onSome: (handed) => Effect.succeed(finish(sessions.begun(handed, app, place)))
          })
        )
      }
      // Browsers send preflights without credentials, so that none would come through to an app that needs a session
      const isAsking = isPreflight(request.method, request.headers) && originOf(request, app, place) !== undefined
      const judged = Effect.suspend(() => admit(request, info, app)).pipe(
        // A token of an OAuth2 app may be for a part of the app alone (RFC 8707)
        Effect.tap((admitted) => (admitted.actor.isApp === true ? Effect.void : Effect.sync(() => keep?.(admitted))))
      )
      const admission = kept !== undefined ? Effect.succeed(kept) : judged
      return (isAsking ? access.corsBehavior(app.address) : Effect.succeed("passthru")).pipe(
        Effect.flatMap((behavior) =>
          behavior === "simple"
            ? Effect.succeed(finish(preflightAnswer(request, app, place)))
            : Effect.flatMap(admission, (admitted) => forwarded(request, info, peer, app, admitted, finish))
        ),
        Effect.catchTags({
          Unadmitted: ({ actor, refusal }) =>
            // A preflight to an app that does not exist is answered, so one that the caller may not open is answered alike
            (isAsking && (refusal.reason === "signed_out" || refusal.reason === "missing")
              ? Effect.succeed(finish(preflightAnswer(request, app, place)))
              : finished(refused(request, refusal, app, place, host))
            ).pipe(
              Effect.tap(({ status }) => (refusal.app === undefined ? Effect.void : visits.log(refusal.app, status))),
              Effect.provideService(CurrentActor, actor)
            ),
          AppFailed: (error) => finished(failure(error)),
          TooLarge: ({ message }) => finished(shown({ status: 413, title: text.appTooLarge, message })),
          TooManyStreams: ({ message }) => finished(shown({ status: 429, title: text.appBusy, message, retry: true }))
        }),
        Effect.provideService(AgentDialer, dialer),
        Effect.provideService(Heartbeat, heartbeat)
      )
    }
  }
  return Context.make(AppServer, apps).pipe(Context.add(VisitorTokens, yield* makeVisitorTokens(refusals)))
})

/** `AppServer`, and the tokens that it gives to workspace proxies for their visitors. */
export const layer = services(make)
