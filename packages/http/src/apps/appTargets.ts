/** Where a browser may be sent with a session: apps at the hosts of the deployment and of its workspace proxies. agents-and-apps.md §19. */
import type { WorkspaceProxies } from "@atelier/core/deployment"
import { bareHost } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { appHosts, noApp, parseAppPath } from "../server/request/appPath.js"

/** Characters of a redirection's target. */
const maximumTarget = 8 * 1024

interface Needs {
  readonly accessUrl: string
  readonly wildcardAccessUrl: string
  readonly proxies: Pick<WorkspaceProxies["Type"], "serving">
  /** Whether each host below the wildcard is the service's own, and may be given a session although it names no app. */
  readonly isAnyHost: boolean
}

/** Returns what finds the address of an app in a text; undefined for other addresses. */
export const appTargets = ({ accessUrl, isAnyHost, proxies, wildcardAccessUrl }: Needs) => {
  const access = new URL(accessUrl)
  const hosts = appHosts(wildcardAccessUrl, accessUrl)
  const wildcardPort = /:(\d+)$/.exec(wildcardAccessUrl)?.[1] ?? access.port

  /** Where the workspace proxy is reached that serves an app at an address. */
  const proxyOf = (target: URL) =>
    Effect.map(proxies.serving, (all) =>
      all
        .map(({ url, wildcard_hostname }) => {
          const { port, protocol } = new URL(url)
          if (bareHost(target.host) === bareHost(new URL(url).host)) {
            return parseAppPath(target.pathname, "") === undefined ? undefined : { protocol, port }
          }
          const app = appHosts(wildcard_hostname, url)(target.host, target.pathname)
          return app === undefined || app === noApp ? undefined : { protocol, port: /:(\d+)$/.exec(wildcard_hostname)?.[1] ?? port }
        })
        .find((place) => place !== undefined)
    )

  return (text: string) =>
    Effect.gen(function* () {
      if (text.length > maximumTarget || !URL.canParse(text)) return undefined
      const target = new URL(text)
      if (!/^https?:$/.test(target.protocol) || target.username !== "" || target.password !== "") return undefined
      const app = hosts(target.host, target.pathname)
      // The name of such a host may lead to another program, which would learn the session
      if (app === noApp && !isAnyHost) return undefined
      const place = app === undefined ? yield* proxyOf(target) : { protocol: access.protocol, port: wildcardPort }
      if (place === undefined) return undefined
      // Another port of the host may be another program's
      target.protocol = place.protocol
      target.port = place.port
      return target
    })
}
