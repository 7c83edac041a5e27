/** Where apps are served, and requests that a workspace proxy passes on for its visitors. agents-and-apps.md §21. */
import { StreamRight } from "@atelier/core/access"
import { WorkspaceProxies } from "@atelier/core/deployment"
import { type Forbidden, Unauthenticated, Uuid } from "@atelier/core/platform"
import { Effect, Redacted } from "effect"
import { isIP } from "node:net"
import { Settings } from "./Settings.js"
import { appHosts, type AppPath, noApp, parseAppPath } from "./appPath.js"

/** The address that visitors see: the service's own, or that of a workspace proxy. */
export interface AppPlace {
  /** The app that a host and the target of a request name. */
  readonly hosts: (host: string, url: string) => AppPath | typeof noApp | undefined
  /** With the colon at its end. */
  readonly protocol: string
  /** Whether browsers send cookies back through TLS only. */
  readonly isSecure: boolean
  /** Whether the service is at another address, so that browsers bring no session of the service. */
  readonly isElsewhere: boolean
}

/** A request that a workspace proxy passes on. */
export interface Visit {
  readonly proxy_id: Uuid.Uuid
  readonly place: AppPlace
  /** The proxy's id of the request; undefined where it gives none. */
  readonly requestId: Uuid.Uuid | undefined
  /** The visitor's address; empty where the proxy names none. */
  readonly ip: string
  /** The host that the visitor asked for. */
  readonly host: string
  /** The app that the visitor asked for; undefined for another page of the proxy. */
  readonly named: AppPath | typeof noApp | undefined
  /** Fails once the proxy's token has ended. */
  readonly permission: Effect.Effect<unknown, Unauthenticated | Forbidden>
}

/** The part of a request that is read. */
export interface Head {
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

const unregistered = new Unauthenticated({ message: "The workspace proxy has not registered." })

/** Reads whether a workspace proxy passes a request on. The effect fails unless the proxy's token is valid. */
export const visitReader = Effect.gen(function* () {
  const proxies = yield* WorkspaceProxies
  const { basePath, names } = yield* Settings
  const [tokenHeader, hostHeader, clientHeader, requestHeader] = [
    names.proxyTokenHeader.toLowerCase(),
    names.proxyHostHeader.toLowerCase(),
    names.proxyClientHeader.toLowerCase(),
    names.requestIdHeader.toLowerCase()
  ]
  return ({ headers, url }: Head): Effect.Effect<Visit, Unauthenticated | Forbidden> | undefined => {
    const host = headers[hostHeader]
    if (host === undefined) return undefined
    // Proxies have no base path of the service's
    const target = basePath !== "" && url.startsWith(`${basePath}/`) ? url.slice(basePath.length) : url
    const permission = proxies.authenticate(Redacted.make(headers[tokenHeader] ?? ""))
    return Effect.flatMap(permission, (proxy) => {
      if (proxy.url === "") return unregistered
      const hosts = appHosts(proxy.wildcard_hostname, proxy.url)
      const { protocol } = new URL(proxy.url)
      return Effect.succeed({
        proxy_id: proxy.id,
        place: { hosts, protocol, isSecure: protocol === "https:", isElsewhere: true },
        requestId: Uuid.parse(headers[requestHeader] ?? ""),
        ip: isIP(headers[clientHeader] ?? "") === 0 ? "" : (headers[clientHeader] ?? ""),
        host,
        named: hosts(host, target) ?? parseAppPath(target, ""),
        permission
      } satisfies Visit)
    })
  }
})

/** A right of a visitor that also ends with the token of the proxy that the visitor comes through. */
export const rightThrough = (visit: Visit | undefined, right: StreamRight): StreamRight =>
  visit === undefined
    ? right
    : new StreamRight(
        right.actor,
        `${right.about} through ${visit.proxy_id}`,
        (actor) => Effect.zipRight(visit.permission, right.permission(actor)),
        right.workspaceId
      )
