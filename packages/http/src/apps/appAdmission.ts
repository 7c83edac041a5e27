/** Judges whether the caller of a request may open its app. agents-and-apps.md §19, §20. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { type Actor, anonymousActor, CurrentActor } from "@atelier/core/access"
import type { AppAccess, AppRefused } from "@atelier/core/workspaces"
import { Data, Effect, Option } from "effect"
import type { Admission, AppServing } from "../server/pipeline/AppServer.js"
import type { AppPath } from "../server/request/appPath.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import { rightThrough } from "../server/request/Visit.js"
import type { Names } from "../wire/Brand.js"
import { placeKey } from "./appReach.js"
import { cookiesOf } from "./appHeaders.js"
import type { AppPlaces } from "./appPlaces.js"
import { signedRequestOf } from "./appRequest.js"
import { type SignedAppTokens, tokenCookie } from "./SignedAppTokens.js"

type Request = HttpServerRequest.HttpServerRequest

/** Characters of the name of a request whose admission is kept. */
const maximumKey = 4_096

/** The caller may not open the app. */
export class Unadmitted extends Data.TaggedError("Unadmitted")<{ readonly refusal: AppRefused; readonly actor: Actor }> {}

export interface AppAdmission extends Pick<AppServing, "keyOf"> {
  readonly admit: (request: Request, info: RequestInfo, app: AppPath) => Effect.Effect<Admission, Unadmitted>
}

export const appAdmission = (
  names: Pick<Names, "signedAppCookie">,
  access: AppAccess["Type"],
  tokens: SignedAppTokens["Type"],
  placeOf: AppPlaces["placeOf"]
): AppAdmission => {
  const signedCookiesOf = ({ headers }: Request): ReadonlyArray<string> => cookiesOf(headers["cookie"], names.signedAppCookie)

  /** The caller, by the session or else by a token for the app. */
  const callerOf = (request: Request, { id, ip, user, userAgent }: RequestInfo, app: AppPath) =>
    Effect.gen(function* () {
      const call = { ip, userAgent, requestId: id }
      const claims = yield* tokens.read(signedCookiesOf(request), signedRequestOf(app))
      const hasToken = Option.isSome(claims)
      if (user?._tag === "Right") return { actor: user.right, hasToken }
      const holder = hasToken ? yield* tokens.holder(claims.value, call) : Option.none()
      return { actor: Option.getOrElse(holder, () => anonymousActor(call)), hasToken }
    })

  return {
    keyOf: (request, info, app) => {
      if (info.checks !== undefined) return undefined
      const { credential, ip, userAgent, visit } = info
      const { access_method, agent, slug_or_port, user, workspace } = app.address
      const named = [access_method, app.base, app.prefix, user, workspace, agent, slug_or_port]
      const key = JSON.stringify([...named, credential, visit?.proxy_id, ip, userAgent, ...signedCookiesOf(request)])
      return key.length > maximumKey ? undefined : key
    },

    admit: (request, info, app) =>
      Effect.gen(function* () {
        const { actor, hasToken } = yield* callerOf(request, info, app)
        const [granted, target] = yield* access.open(app.address).pipe(
          Effect.mapError((refusal) => new Unadmitted({ refusal, actor })),
          Effect.provideService(CurrentActor, actor)
        )
        const issued = hasToken ? undefined : yield* tokens.issue(signedRequestOf(app), target, actor)
        const { isSecure } = placeOf(info)
        const cookies = issued === undefined ? [] : [tokenCookie(names.signedAppCookie, issued, { path: app.base, isSecure })]
        const url = new URL(target.url)
        const right = rightThrough(info.visit, granted)
        return { user: info.user, actor, right, target, url, place: placeKey({ target, url }), cookies }
      })
  }
}
