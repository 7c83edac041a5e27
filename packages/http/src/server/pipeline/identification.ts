import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { parseCredential } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Effect, Either, Redacted } from "effect"
import { dpopTokenOf } from "../credentials/Credential.js"
import type { UserCredentials } from "../credentials/Credentials.js"
import type { HostSessions } from "../credentials/HostSessions.js"
import type { TrustedSessions } from "../credentials/TrustedSessions.js"
import type { AppPath } from "../request/appPath.js"
import type { RequestInfo } from "../request/CurrentRequest.js"

/** Whose users a host names, beside apps and pages that no route has: the interface, and the pages that a host with users of its own has. */
const hostPaths = /^\/(?:(?:api|oauth2|external-auth|gitauth)\/|@[^/]+\/[^/]+\/terminal\/?$)/

/** Finds the users of requests: among the service's own sessions and tokens, and at the host where it has users of its own. */
export const identification = (users: UserCredentials["Type"], host: HostSessions["Type"], trusted: TrustedSessions["Type"]) => {
  /** Whether no host with users of its own has to read other parts of a request. */
  const isNative = ({ credential }: RequestInfo): boolean =>
    host === undefined || (credential !== undefined && parseCredential(credential) !== undefined)

  /**
   * Whether the credential and the address of a request are all that identifies its user. The program that embeds the service names users otherwise, and
   * a proof of possession is for one request.
   */
  const isOwn = (request: HttpServerRequest.HttpServerRequest, info: RequestInfo): boolean =>
    isNative(info) &&
    dpopTokenOf(request) === undefined &&
    trusted(request, { ip: info.ip, userAgent: info.userAgent, requestId: info.id }) === undefined

  /**
   * The user whose request it is: a credential of the service's own counts before what the host says. Undefined for agents and for none. The effect of a direct
   * request has succeeded already where nothing has to be waited for.
   */
  const identify = (
    request: HttpServerRequest.HttpServerRequest,
    info: RequestInfo,
    app: AppPath | undefined,
    isPage: boolean,
    isDirect: boolean
  ): Effect.Effect<RequestInfo["user"]> | undefined => {
    const { credential, id, ip, path, userAgent } = info
    const own = trusted(request, { ip, userAgent, requestId: id })
    if (own !== undefined) return Effect.either(own)
    if (credential !== undefined && Uuid.isUuid(credential)) return undefined
    if (credential !== undefined && isNative(info)) {
      const token = Redacted.make(credential)
      // A path on a host of an app's own is in no part of the deployment
      const call = { ip, userAgent, requestId: id, path: app?.address.access_method === "subdomain" ? undefined : path }
      const proving = dpopTokenOf(request) === credential ? { request, method: request.method, path } : undefined
      const actor = isDirect && proving === undefined ? users.authenticateNow?.(token, call) : undefined
      return actor === undefined ? Effect.either(users.authenticate(token, call, proving)) : Effect.succeed(Either.right(actor))
    }
    return host !== undefined && (app !== undefined || isPage || hostPaths.test(path)) ? host.authenticate(request, info) : undefined
  }

  return { isOwn, identify }
}
