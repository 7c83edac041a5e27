/** What peers of the private network ask: relays, and how they find each other. agents-and-apps.md §15, §16. */
import { Duration as ProtocolDuration, Router, type TailnetMessages, TailnetService } from "@atelier/agent-protocol"
import { type Actor, CurrentActor } from "@atelier/core/access"
import { Coordinator, issueResumeToken, type PeerPolicy, RelayMaps } from "@atelier/core/network"
import { Encryption, type Uuid } from "@atelier/core/platform"
import { OwnerWatches, type WorkspaceChanges, type WorkspaceStatus } from "@atelier/core/workspaces"
import { Duration, Effect, Either, Stream } from "effect"
import { coordinate } from "./coordinate.js"
import { relayMapMessage } from "./relayMapMessage.js"
import { bytesOf, idOf, refusal, timestampOf } from "./values.js"

/** A peer, and what serves it. */
export interface Peer {
  readonly id: Uuid.Uuid
  /** The user or the agent that it belongs to. */
  readonly holder: Uuid.Uuid
  readonly policy: PeerPolicy
}

const statuses = {
  pending: "PENDING",
  starting: "STARTING",
  running: "RUNNING",
  stopping: "STOPPING",
  stopped: "STOPPED",
  failed: "FAILED",
  canceling: "CANCELING",
  canceled: "CANCELED",
  deleting: "DELETING",
  deleted: "DELETED"
} as const satisfies Record<WorkspaceStatus, TailnetMessages.WorkspaceStatus>

const updateMessage = (changes: WorkspaceChanges): TailnetMessages.WorkspaceUpdateInit => {
  const workspaces = (some: WorkspaceChanges["upserted_workspaces"]) =>
    some.map(({ id, name, status }) => ({ id: bytesOf(id), name, status: statuses[status] }))
  const agents = (some: WorkspaceChanges["upserted_agents"]) =>
    some.map(({ id, name, workspace_id }) => ({ id: bytesOf(id), name, workspace_id: bytesOf(workspace_id) }))
  return {
    upserted_workspaces: workspaces(changes.upserted_workspaces),
    upserted_agents: agents(changes.upserted_agents),
    deleted_workspaces: workspaces(changes.deleted_workspaces),
    deleted_agents: agents(changes.deleted_agents)
  }
}

/**
 * Makes the service for one connection of a peer, on behalf of the acting user or agent. What it needs is taken once: a connection that was given
 * all services would keep a copy of their map.
 */
export const maker = Effect.gen(function* () {
  const coordinator = yield* Coordinator
  const maps = yield* RelayMaps
  const watches = yield* OwnerWatches
  const encryption = yield* Encryption
  const serving = Router.perCall(TailnetService)
  return ({ holder, id, policy }: Peer, actor: Actor) => {
    const updates = (owner: Uuid.Uuid) =>
      watches
        .changes(owner)
        .pipe(
          Stream.provideService(CurrentActor, actor),
          Stream.mapBoth({ onFailure: ({ message }) => refusal(message), onSuccess: updateMessage })
        )
    const resumption = () => Effect.provideService(issueResumeToken(id, holder), Encryption, encryption)

    return serving(() => ({
      StreamDERPMaps: () => Stream.map(maps.changes, relayMapMessage),
      Coordinate: coordinate(coordinator, id, policy),
      PostTelemetry: ({ events }) => Effect.as(Effect.logDebug("events of a peer's network", { peer: id, events: events.length }), {}),
      RefreshResumeToken: () =>
        Effect.map(resumption(), ({ expires_at, refresh_in, token }) => ({
          token,
          refresh_in: ProtocolDuration.fromMillis(Duration.toMillis(refresh_in)),
          expires_at: timestampOf(expires_at)
        })),
      // An invalid id is answered by the end of the stream
      WorkspaceUpdates: ({ workspace_owner_id }) =>
        Either.match(idOf("workspace_owner_id", workspace_owner_id), { onLeft: () => Stream.empty, onRight: updates })
    }))
  }
})
