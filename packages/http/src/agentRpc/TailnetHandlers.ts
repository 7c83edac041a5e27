/** What peers of the private network ask: relays, and how they find each other. agents-and-apps.md §15, §16. */
import { Duration as ProtocolDuration, Router, TailnetService } from "@atelier/agent-protocol"
import { type Coordinator, issueResumeToken, type PeerPolicy, type RelayMaps } from "@atelier/core/network"
import type { Encryption, Uuid } from "@atelier/core/platform"
import { type Context, Duration, Effect, Stream } from "effect"
import { coordinate } from "./coordinate.js"
import { relayMapMessage } from "./relayMapMessage.js"
import { timestampOf, unimplemented } from "./values.js"

/** A peer, and what serves it. */
export interface Peer {
  readonly id: Uuid.Uuid
  /** The user or the agent that it belongs to. */
  readonly holder: Uuid.Uuid
  readonly policy: PeerPolicy
}

/** The service for one connection of a peer. */
export const make = (
  { holder, id, policy }: Peer,
  services: {
    readonly coordinator: Coordinator["Type"]
    readonly maps: RelayMaps["Type"]
    readonly encryption: Context.Context<Encryption>
  }
) =>
  Router.make(TailnetService, {
    StreamDERPMaps: () => Stream.map(services.maps.changes, relayMapMessage),
    Coordinate: coordinate(services.coordinator, id, policy),
    PostTelemetry: ({ events }) => Effect.as(Effect.logDebug("events of a peer's network", { peer: id, events: events.length }), {}),
    RefreshResumeToken: () =>
      Effect.map(Effect.provide(issueResumeToken(id, holder), services.encryption), ({ expires_at, refresh_in, token }) => ({
        token,
        refresh_in: ProtocolDuration.fromMillis(Duration.toMillis(refresh_in)),
        expires_at: timestampOf(expires_at)
      })),
    WorkspaceUpdates: () => Stream.fail(unimplemented(TailnetService, "WorkspaceUpdates"))
  })
