/** A workspace proxy: serves the apps and terminals of workspaces at an address of its own. agents-and-apps.md §21. */
import { reasonOf, StartError } from "@atelier/core/platform"
import { Effect, Redacted, Ref, Runtime, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { Agent, type IncomingMessage, type ServerResponse } from "node:http"
import { Agent as SecureAgent } from "node:https"
import type { Duplex } from "node:stream"
import { appHosts, parseAppPath } from "../server/request/appPath.js"
import { type Compatibility, presentationFor } from "../wire/Compatibility.js"
import { namesOf } from "../wire/Brand.js"
import { clientAddressOf, forwardingHeaders, type TrustedProxies, trusts } from "../server/request/ClientAddress.js"
import { passOn, passUpgrade, type Upstream } from "./passOn.js"
import { answerWithin, keepRegistered } from "./Registration.js"
import { SilentConnections } from "./SilentConnections.js"

export interface Options {
  /** Where the proxy reaches the service. Its redirections never decide where the proxy connects to. */
  readonly primaryAccessUrl: string
  /** The token that `POST /workspaceproxies` has answered with. */
  readonly token: string
  /** Where visitors reach the proxy; it has no path. */
  readonly accessUrl: string
  /** The host names of apps, such as `*.east.example.com`; without it apps are served by path alone. */
  readonly wildcardAccessUrl?: string | undefined
  /** The service's product name, which headers begin with. */
  readonly brand?: string | undefined
  /** That of the service. */
  readonly compatibility?: Compatibility | undefined
  /** Proxies before this one whose word for their clients is believed. None unless given. */
  readonly trustedProxies?: TrustedProxies | undefined
}

/** Listeners for a server of `node:http`, and what makes them known. */
export interface WorkspaceProxy {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /**
   * Registers the proxy at the service until the scope closes: run it once the server listens, as the service asks the proxy for its health at
   * once. Fails with `StartError` for a token or an address that the service refuses; a service that cannot be reached is tried again.
   */
  readonly register: Effect.Effect<void, StartError, Scope.Scope>
}

/** Connections to the service that are kept for further requests. */
const keptConnections = 64

const urlOf = (option: string, text: string): Effect.Effect<URL, StartError> =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
    ? Effect.succeed(new URL(text))
    : new StartError({ option, value: text, reason: "must be an http or https address" })

/** Any page may measure how far away the proxy is. */
const measurable = { "access-control-allow-origin": "*", "timing-allow-origin": "*", "cache-control": "no-store" }

const isTerminal = (url: string): boolean => /^\/api\/v2\/workspaceagents\/[^/?]+\/pty(?:\?|$)/.test(url)

/**
 * Makes a proxy, which serves apps and terminals until the scope closes. Whatever a visitor asks for is decided by the service, which also
 * keeps the connections to agents: the proxy holds no data and no key. Fails with `StartError` for options that cannot be used.
 */
export const make = (options: Options): Effect.Effect<WorkspaceProxy, StartError, Scope.Scope> =>
  Effect.gen(function* () {
    const primary = yield* urlOf("primaryAccessUrl", options.primaryAccessUrl)
    const own = yield* urlOf("accessUrl", options.accessUrl)
    const wildcardAccessUrl = options.wildcardAccessUrl ?? ""
    const names = namesOf(options.brand ?? presentationFor(options.compatibility).brand)
    const primaryAccessUrl = primary.href.replace(/\/+$/, "")
    const problem = yield* Ref.make<string | undefined>("it has not registered yet")
    const token = Redacted.make(options.token)
    const connections = new SilentConnections(answerWithin)
    const register = keepRegistered({ primaryAccessUrl, accessUrl: own.origin, wildcardAccessUrl, token, names, connections }, problem)
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new (primary.protocol === "https:" ? SecureAgent : Agent)({ keepAlive: true, maxFreeSockets: keptConnections })),
      (made) => Effect.sync(() => made.destroy())
    )
    const upstream: Upstream = {
      url: primary,
      agent,
      connections,
      dropped: new Set([
        ...forwardingHeaders,
        ...[names.proxyTokenHeader, names.proxyHostHeader, names.proxyClientHeader, names.requestIdHeader].map((name) => name.toLowerCase())
      ])
    }
    const proxies = options.trustedProxies ?? { origins: [], headers: [] }
    const [clientOf, isTrusted] = yield* Effect.try({
      try: () => [clientAddressOf(proxies), trusts(proxies)] as const,
      catch: (error) => (error instanceof StartError ? error : new StartError({ option: "trustedProxies", reason: reasonOf(error) }))
    })
    const hosts = appHosts(wildcardAccessUrl, own.origin)

    const one = (value: string | ReadonlyArray<string> | undefined): string | undefined => (typeof value === "string" ? value : value?.[0])
    const hostOf = ({ headers, socket }: IncomingMessage): string =>
      (isTrusted(socket.remoteAddress ?? "") ? one(headers["x-forwarded-host"]) : undefined) ?? headers.host ?? ""
    const clientHeaders = (request: IncomingMessage): Record<string, string | undefined> =>
      Object.fromEntries(proxies.headers.map((name) => [name.toLowerCase(), one(request.headers[name.toLowerCase()])]))
    /** By which the service knows the proxy, and whom it acts for. */
    const introduction = (request: IncomingMessage, host: string, id: string): ReadonlyArray<string> => [
      names.proxyTokenHeader,
      options.token,
      names.proxyHostHeader,
      host,
      names.proxyClientHeader,
      clientOf(request.socket.remoteAddress ?? "", clientHeaders(request)),
      names.requestIdHeader,
      id
    ]

    const isServed = (host: string, url: string): boolean =>
      url.startsWith("/") && (hosts(host, url) !== undefined || parseAppPath(url, "") !== undefined || isTerminal(url))

    const answer = (response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void =>
      void response.writeHead(status, { "content-type": "text/plain; charset=utf-8", ...headers }).end(text)

    const log = Runtime.runFork(yield* Effect.runtime<never>())
    /** Tells visitor and operator of a request that does not reach the service. */
    const unreachable = (error: Error, { method }: IncomingMessage, request_id: string): string => {
      log(Effect.annotateLogs(Effect.logWarning(`the service cannot be reached: ${error.message}`), { request_id, method }))
      return `The service cannot be reached: ${error.message}.\n`
    }

    const ownPages: Readonly<Record<string, (response: ServerResponse) => void>> = {
      "/healthz": (response) => answer(response, 200, "OK"),
      "/latency-check": (response) => answer(response, 200, "OK", measurable),
      "/healthz-report": (response) => {
        const wrong = Effect.runSync(Ref.get(problem))
        const report = { errors: wrong === undefined ? [] : [`The proxy is not registered: ${wrong}`], warnings: [] }
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(report))
      }
    }

    return {
      register,
      handler: (request, response) => {
        const url = request.url ?? "/"
        const host = hostOf(request)
        if (isServed(host, url)) {
          const id = randomUUID()
          passOn(upstream, request, response, introduction(request, host, id), (error) =>
            answer(response, 502, unreachable(error, request, id), { "retry-after": "5", [names.requestIdHeader]: id })
          )
          return
        }
        const page = ownPages[url.split("?", 1)[0] ?? ""]
        if (page === undefined) answer(response, 404, "This address serves applications and terminals of workspaces alone.\n")
        else page(response)
      },
      upgrade: (request, socket, head) => {
        const host = hostOf(request)
        const id = randomUUID()
        const refuse = (status: string, text: string): void =>
          void socket.end(
            `HTTP/1.1 ${status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`
          )
        socket.on("error", () => socket.destroy())
        if (!isServed(host, request.url ?? "/"))
          refuse("404 Not Found", "This address serves applications and terminals of workspaces alone.\n")
        else
          passUpgrade(upstream, request, socket, head, introduction(request, host, id), (error) =>
            refuse("502 Bad Gateway", unreachable(error, request, id))
          )
      }
    }
  })
