/**
 * What agents ask about the network that clients reach them through. The service has no relays and no coordinator yet: an agent receives an
 * empty map, and its announcements are validated but not forwarded. agents-and-apps.md §15, §16.
 */
import { Router, type TailnetMessages, TailnetService } from "@atelier/agent-protocol"
import { type AgentWorkspace, answerAgent } from "@atelier/core/agents"
import { Either, Stream } from "effect"
import { relayMap } from "./manifest.js"
import { idOf, unimplemented } from "./values.js"

const peerName = ({ id }: { readonly id: Uint8Array }): string => Either.getOrElse(idOf("id", id), ({ message }) => message)

/** The service for one connection of an agent. */
export const make = ({ agent_id }: AgentWorkspace) => {
  const answer = ({ add_tunnel, disconnect, ready_for_handshake, update_self }: TailnetMessages.CoordinateRequest) =>
    answerAgent(agent_id, {
      announced: update_self?.node && [...update_self.node.addresses, ...update_self.node.allowed_ips],
      addsTunnel: add_tunnel !== undefined,
      disconnects: disconnect !== undefined,
      readyFor: ready_for_handshake.map(peerName)
    })

  return Router.make(TailnetService, {
    StreamDERPMaps: () => Stream.concat(Stream.succeed(relayMap), Stream.never),
    Coordinate: (requests) =>
      requests.pipe(
        Stream.map(answer),
        Stream.takeUntil(({ ends }) => ends),
        Stream.mapConcat(({ errors }) => errors.map((error) => ({ error })))
      ),
    PostTelemetry: () => unimplemented(TailnetService, "PostTelemetry"),
    RefreshResumeToken: () => unimplemented(TailnetService, "RefreshResumeToken"),
    WorkspaceUpdates: () => Stream.fail(unimplemented(TailnetService, "WorkspaceUpdates"))
  })
}
