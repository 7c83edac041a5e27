import type { Client } from "./drpc/DrpcClient.js"
import type { Handlers } from "./drpc/Router.js"
import { bidirectional, serverStreaming, service, unary } from "./drpc/Service.js"
import * as Tailnet from "./messages/Tailnet.js"

/** How peers of the private network find each other. Spec: agents-and-apps.md §15. */
export const TailnetService = service("coder.tailnet.v2.Tailnet", {
  PostTelemetry: unary(Tailnet.TelemetryRequest, Tailnet.TelemetryResponse),
  StreamDERPMaps: serverStreaming(Tailnet.StreamDERPMapsRequest, Tailnet.DERPMap),
  RefreshResumeToken: unary(Tailnet.RefreshResumeTokenRequest, Tailnet.RefreshResumeTokenResponse),
  Coordinate: bidirectional(Tailnet.CoordinateRequest, Tailnet.CoordinateResponse),
  WorkspaceUpdates: serverStreaming(Tailnet.WorkspaceUpdatesRequest, Tailnet.WorkspaceUpdate)
})

export type TailnetHandlers<R = never> = Handlers<(typeof TailnetService)["methods"], R>
export type TailnetClient = Client<(typeof TailnetService)["methods"]>
