import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { Version } from "@atelier/agent-protocol"
import { Access, anonymousActor, CurrentActor, rightTo, SystemActor } from "@atelier/core/access"
import { CryptoKeyFeature, CryptoKeys, type ObservedProxy, type ProxyReplica, proxyView, WorkspaceProxies } from "@atelier/core/deployment"
import { AppVisits } from "@atelier/core/insights"
import { type PeerPolicy, proxyRegionId, RelayMaps } from "@atelier/core/network"
import { Ids, Invalid, NotFound, Unauthenticated, withoutTrailingSlashes } from "@atelier/core/platform"
import { Effect, Encoding, Option, Redacted, Schema } from "effect"
import { coordinatorSocket } from "../../agentRpc/coordinatorSocket.js"
import * as TailnetHandlers from "../../agentRpc/TailnetHandlers.js"
import { unsupportedVersion } from "../../agentRpc/values.js"
import { VisitorTokens } from "../../apps/VisitorTokens.js"
import * as contract from "../../contract/deployment/workspaceProxies.js"
import { type IssueTokenRequest, ProxyAuthenticated, ProxyToken } from "../../contract/deployment/workspaceProxies.js"
import { UserCredentials } from "../../server/credentials/Credentials.js"
import { callInfo } from "../../server/request/CurrentRequest.js"
import { Settings } from "../../server/request/Settings.js"
import { withQuery } from "../../server/codec/withQuery.js"
import * as Handlers from "../Handlers.js"

const updated = ({ proxy, token }: { readonly proxy: ObservedProxy; readonly token: Redacted.Redacted<string> | undefined }) => ({
  proxy: proxyView(proxy),
  proxy_token: token === undefined ? "" : Redacted.value(token)
})

/** The routes below this name are for proxies. */
const notAProxy = new Unauthenticated({ message: "A session is not a token of a workspace proxy." })

const filled = <Fields extends Readonly<Record<string, string>>>(fields: Fields) => {
  const validations = Object.entries(fields).flatMap(([field, value]) => (value === "" ? [{ field, detail: "must not be empty" }] : []))
  return validations.length === 0 ? Effect.void : new Invalid({ message: "The proxy is not described completely.", validations })
}

const asProxy = Effect.map(Effect.all([WorkspaceProxies, Settings]), ([proxies, { names }]) => {
  const header = names.proxyTokenHeader.toLowerCase()
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const token = Redacted.make(headers[header] ?? "")
    return Effect.as(proxies.authenticate(token), token)
  })
})

export const workspaceProxies = Handlers.group(contract.workspaceProxies, (handlers) =>
  Effect.map(WorkspaceProxies, (proxies) =>
    handlers
      .handle("listWorkspaceProxies", () => Effect.map(proxies.list, (all) => ({ regions: all.map(proxyView) })))
      .handle("createWorkspaceProxy", ({ payload }) => Effect.map(proxies.create(payload), updated))
      .handle("getWorkspaceProxy", ({ path }) =>
        path.workspaceproxy === "me" ? notAProxy : Effect.map(proxies.get(path.workspaceproxy), proxyView)
      )
      .handle("updateWorkspaceProxy", ({ path, payload: { regenerate_token, ...fields } }) =>
        Effect.gen(function* () {
          const { display_name, icon, name } = fields
          yield* proxies.get(path.workspaceproxy)
          yield* filled(fields)
          return updated(yield* proxies.update(path.workspaceproxy, { name, display_name, icon }, regenerate_token))
        })
      )
      .handle("deleteWorkspaceProxy", ({ path }) => Effect.as(proxies.remove(path.workspaceproxy), { message: "Proxy has been deleted!" }))
  )
)

/** Proxies introduce their users to any agent. The right of a user is checked when the user opens an app or a terminal. agents-and-apps.md §16. */
const everything: PeerPolicy = { refuseNode: () => undefined, openTunnel: () => Effect.succeed(undefined), mayBeReady: true }

const isFeature = Schema.is(CryptoKeyFeature)

const replicaView =
  (region_id: number) =>
  ({ created_at, error, hostname, id, relay_address }: ProxyReplica) => ({
    id,
    hostname,
    created_at,
    relay_address,
    region_id,
    error,
    database_latency: 0
  })

/** The address of an app at the proxy, in the form that the visitor's browser asks for. */
const addressOf = ({ app_hostname, app_path, app_query, app_request, path_app_base_url }: typeof IssueTokenRequest.Type): string => {
  const isPath = app_request.access_method === "path"
  const protocol = URL.canParse(path_app_base_url) ? new URL(path_app_base_url).protocol : "https:"
  const origin = isPath ? withoutTrailingSlashes(path_app_base_url) : `${protocol}//${app_hostname}`
  const base = isPath ? withoutTrailingSlashes(app_request.base_path) : ""
  return withQuery(`${origin}${base}/${app_path.replace(/^\/+/, "")}`, app_query)
}

export const ownWorkspaceProxy = Effect.provideServiceEffect(
  Handlers.group(contract.ownWorkspaceProxy, (handlers) =>
    Effect.gen(function* () {
      const proxies = yield* WorkspaceProxies
      const maps = yield* RelayMaps
      const visits = yield* AppVisits
      const keys = yield* CryptoKeys
      const ids = yield* Ids
      const visitors = yield* VisitorTokens
      const users = yield* UserCredentials
      const { names } = yield* Settings
      const serviceOf = yield* TailnetHandlers.maker
      const header = names.proxyTokenHeader.toLowerCase()
      return handlers
        .handle("registerWorkspaceProxy", ({ payload: { replica_error: error, replica_relay_address: relay_address, ...registration } }) =>
          Effect.gen(function* () {
            const { proxy, siblings } = yield* proxies.register(yield* ProxyToken, { ...registration, error, relay_address })
            const region = proxyRegionId(maps.own, proxy)
            return {
              // Relays of this product do not mesh
              derp_mesh_key: "",
              derp_region_id: region,
              derp_map: yield* maps.current,
              derp_force_websockets: maps.connectionSettings.derp_force_websockets,
              sibling_replicas: siblings.map(replicaView(region))
            }
          })
        )
        .handle("deregisterWorkspaceProxy", ({ payload }) =>
          Effect.flatMap(ProxyToken, (token) => proxies.deregister(token, payload.replica_id))
        )
        .handle("reportAppStats", ({ payload }) => visits.record(payload.stats))
        .handle("issueSignedAppToken", ({ payload, request }) =>
          Effect.gen(function* () {
            if (visitors === undefined) return yield* new NotFound({})
            const info = { ...(yield* callInfo), ip: request.headers[names.proxyClientHeader.toLowerCase()] ?? "" }
            const user = yield* Effect.option(users.authenticate(Redacted.make(payload.session_token), info))
            const actor = Option.getOrElse(user, () => anonymousActor(info))
            const issued = yield* Effect.provideService(visitors.issue(payload.app_request, addressOf(payload)), CurrentActor, actor)
            return typeof issued === "string" ? { signed_token_str: issued } : issued
          })
        )
        .handle("listCryptoKeys", ({ urlParams: { feature } }) =>
          Effect.gen(function* () {
            if (!isFeature(feature)) return yield* Invalid.field("feature", `must be one of ${CryptoKeyFeature.literals.join(", ")}`)
            const found = yield* keys.verifying(feature).pipe(Access.actingAs(SystemActor.cryptoKeyReader), Effect.orDie)
            return {
              crypto_keys: found.map(({ secret, ...key }) => ({ ...key, secret: Encoding.encodeHex(Redacted.value(secret)) }))
            }
          })
        )
        .handle("coordinateWorkspaceProxy", ({ request, urlParams }) =>
          Effect.gen(function* () {
            yield* Effect.mapError(
              Version.negotiate(urlParams.version === "" ? Version.coordinateDefault : urlParams.version),
              unsupportedVersion
            )
            const token = Redacted.make(request.headers[header] ?? "")
            const [right, proxy] = yield* rightTo("workspace proxy", () => proxies.authenticate(token))
            const service = serviceOf({ id: yield* ids.next, holder: proxy.id, policy: everything }, yield* CurrentActor)
            return yield* coordinatorSocket(request, right, service)
          }).pipe(Effect.provideService(CurrentActor, SystemActor.workspaceProxy))
        )
    })
  ),
  ProxyAuthenticated,
  asProxy
)
