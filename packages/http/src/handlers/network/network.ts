import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { Version } from "@atelier/agent-protocol"
import { CurrentActor, rightTo, type StreamRight } from "@atelier/core/access"
import { Agents, AgentTunnels } from "@atelier/core/agents"
import { NetworkState, type PeerPolicy, peerOfResumeToken, RelayMap, RelayMaps } from "@atelier/core/network"
import { Encryption, Ids, Unauthenticated } from "@atelier/core/platform"
import { Effect, Option } from "effect"
import { coordinatorSocket } from "../../agentRpc/coordinatorSocket.js"
import * as TailnetHandlers from "../../agentRpc/TailnetHandlers.js"
import { unsupportedVersion } from "../../agentRpc/values.js"
import * as contract from "../../contract/network/network.js"
import { jsonSocket } from "../../sockets/json.js"
import { brandOf } from "../../pages/brandOf.js"
import { agentList, peerList } from "../../pages/networkPages.js"
import { page } from "../../pages/page.js"
import { text } from "../../pages/text.js"
import { Settings } from "../../server/request/Settings.js"
import * as Handlers from "../Handlers.js"

interface Query {
  readonly version: string
  readonly resume_token: string
}

const staleToken = new Unauthenticated({
  message: "Invalid resume token",
  validations: [{ field: "resume_token", detail: "has expired, or was not made for this user" }]
})

export const network = Handlers.group(contract.network, (handlers) =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const tunnels = yield* AgentTunnels
    const maps = yield* RelayMaps
    const ids = yield* Ids
    const encryption = yield* Encryption
    const serviceOf = yield* TailnetHandlers.maker

    /** The peer that the acting user's client comes back as, or a new one. */
    const peerOf = (token: string, policy: PeerPolicy) =>
      Effect.gen(function* () {
        const { userId: holder } = yield* CurrentActor
        if (token === "") return { id: yield* ids.next, holder, policy }
        const id = Option.getOrUndefined(yield* Effect.provideService(peerOfResumeToken(token, holder), Encryption, encryption))
        if (id !== undefined) return { id, holder, policy }
        return yield* staleToken
      })

    const connect = (
      request: HttpServerRequest.HttpServerRequest,
      { resume_token, version }: Query,
      right: StreamRight,
      { fallback, policy }: { readonly fallback: string; readonly policy: PeerPolicy }
    ) =>
      Effect.gen(function* () {
        yield* tunnels.refuseBrowserOnly
        yield* Effect.mapError(Version.negotiate(version === "" ? fallback : version), unsupportedVersion)
        const peer = yield* peerOf(resume_token, policy)
        const service = serviceOf(peer, yield* CurrentActor)
        return yield* coordinatorSocket(request, right, service)
      })

    const { agents: linkedAgents, peers } = yield* NetworkState
    const settings = yield* Settings
    const brand = yield* brandOf
    const shown = (title: string, content: string) => Effect.map(brand, (name) => page(settings, name, { title, content }))

    return handlers
      .handle("getConnectionInfo", () => maps.connectionInfo)
      .handle("getAgentConnectionInfo", ({ path }) => Effect.zipRight(agents.readable(path.workspaceagent), maps.connectionInfo))
      .handle("watchRelayMap", ({ request }) =>
        Effect.flatMap(
          rightTo("relay map", () => Effect.void),
          ([right]) => jsonSocket(request, RelayMap, { right, values: maps.changes })
        )
      )
      .handle("connectToNetwork", ({ request, urlParams }) =>
        Effect.gen(function* () {
          const [right] = yield* rightTo("network", () => Effect.void)
          return yield* connect(request, urlParams, right, { fallback: Version.rpcDefault, policy: yield* tunnels.policyOfClient() })
        })
      )
      .handle("coordinateAgent", ({ path, request, urlParams }) =>
        Effect.gen(function* () {
          const [right] = yield* tunnels.rightToReach(path.workspaceagent)
          yield* tunnels.refuseUnjoined(path.workspaceagent)
          const policy = yield* tunnels.policyOfClient(path.workspaceagent)
          return yield* connect(request, urlParams, right, { fallback: Version.coordinateDefault, policy })
        })
      )
      .handle("showCoordinator", () => Effect.flatMap(peers, (all) => shown(text.coordinatorTitle, peerList(all))))
      .handle("showAgentLinks", () => Effect.flatMap(linkedAgents, (all) => shown(text.linksTitle, agentList(all))))
  })
)
