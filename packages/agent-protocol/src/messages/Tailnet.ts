import { Duration } from "./Duration.js"
import {
  bool,
  bytes,
  double,
  enumeration,
  field,
  int32,
  int53,
  int64,
  map,
  message,
  repeated,
  string,
  uint64,
  type Fields,
  type InitOf,
  type TypeOf
} from "./Protobuf.js"
import { Timestamp } from "./Timestamp.js"
import { BoolValue, FloatValue } from "./Wrappers.js"

/** Messages of `coder.tailnet.v2.Tailnet`. Ids are the 16 bytes of a UUID. Spec: agents-and-apps.md §15. */
const tailnet = <const F extends Fields>(name: string, fields: F) => message(`coder.tailnet.v2.${name}`, fields)

export const DerpNode = tailnet("DERPMap.Region.Node", {
  name: field(1, string),
  region_id: field(2, int53),
  host_name: field(3, string),
  cert_name: field(4, string),
  ipv4: field(5, string),
  ipv6: field(6, string),
  stun_port: field(7, int32),
  stun_only: field(8, bool),
  derp_port: field(9, int32),
  insecure_for_tests: field(10, bool),
  force_http: field(11, bool),
  stun_test_ip: field(12, string),
  can_port_80: field(13, bool)
})
export type DerpNode = TypeOf<typeof DerpNode>

export const Region = tailnet("DERPMap.Region", {
  region_id: field(1, int53),
  embedded_relay: field(2, bool),
  region_code: field(3, string),
  region_name: field(4, string),
  avoid: field(5, bool),
  nodes: repeated(6, DerpNode)
})
export type Region = TypeOf<typeof Region>

export const HomeParams = tailnet("DERPMap.HomeParams", { region_score: map(1, int53, double) })
export type HomeParams = TypeOf<typeof HomeParams>

/** Clients dereference `home_params`: send it, if only empty. */
export const DERPMap = tailnet("DERPMap", { home_params: field(1, HomeParams), regions: map(2, int53, Region) })
export type DERPMap = TypeOf<typeof DERPMap>

export const Node = tailnet("Node", {
  /** Random: all 64 bits may be used. */
  id: field(1, int64),
  as_of: field(2, Timestamp),
  /** ASCII `np`, then the 32 bytes of the WireGuard public key. */
  key: field(3, bytes),
  /** `discokey:`, then 64 hexadecimal digits. */
  disco: field(4, string),
  preferred_derp: field(5, int32),
  /** Seconds by `<region id>-<suffix>`. */
  derp_latency: map(6, string, double),
  derp_forced_websocket: map(7, int32, string),
  addresses: repeated(8, string),
  allowed_ips: repeated(9, string),
  endpoints: repeated(10, string)
})
export type Node = TypeOf<typeof Node>

export const StreamDERPMapsRequest = tailnet("StreamDERPMapsRequest", {})

export const RefreshResumeTokenRequest = tailnet("RefreshResumeTokenRequest", {})

export const RefreshResumeTokenResponse = tailnet("RefreshResumeTokenResponse", {
  token: field(1, string),
  refresh_in: field(2, Duration),
  expires_at: field(3, Timestamp)
})
export type RefreshResumeTokenResponse = TypeOf<typeof RefreshResumeTokenResponse>

export const UpdateSelf = tailnet("CoordinateRequest.UpdateSelf", { node: field(1, Node) })
export const Disconnect = tailnet("CoordinateRequest.Disconnect", {})
export const Tunnel = tailnet("CoordinateRequest.Tunnel", { id: field(1, bytes) })
export const ReadyForHandshake = tailnet("CoordinateRequest.ReadyForHandshake", { id: field(1, bytes) })

/** One request may carry several parts, handled in the order of the fields. */
export const CoordinateRequest = tailnet("CoordinateRequest", {
  update_self: field(1, UpdateSelf),
  disconnect: field(2, Disconnect),
  add_tunnel: field(3, Tunnel),
  remove_tunnel: field(4, Tunnel),
  ready_for_handshake: repeated(5, ReadyForHandshake)
})
export type CoordinateRequest = TypeOf<typeof CoordinateRequest>
export type CoordinateRequestInit = InitOf<typeof CoordinateRequest>

export const PeerUpdateKind = enumeration({ UNSPECIFIED: 0, NODE: 1, DISCONNECTED: 2, LOST: 3, READY_FOR_HANDSHAKE: 4 })
export type PeerUpdateKind = TypeOf<typeof PeerUpdateKind>

export const PeerUpdate = tailnet("CoordinateResponse.PeerUpdate", {
  id: field(1, bytes),
  node: field(2, Node),
  kind: field(3, PeerUpdateKind),
  reason: field(4, string)
})
export type PeerUpdate = TypeOf<typeof PeerUpdate>

export const CoordinateResponse = tailnet("CoordinateResponse", { peer_updates: repeated(1, PeerUpdate), error: field(2, string) })
export type CoordinateResponse = TypeOf<typeof CoordinateResponse>
export type CoordinateResponseInit = InitOf<typeof CoordinateResponse>

export const IPFields = tailnet("IPFields", {
  version: field(1, int32),
  class: field(2, enumeration({ PUBLIC: 0, PRIVATE: 1, LINK_LOCAL: 2, LOOPBACK: 3 }))
})
export type IPFields = TypeOf<typeof IPFields>

export const NetcheckIP = tailnet("Netcheck.NetcheckIP", { hash: field(1, string), fields: field(2, IPFields) })
export type NetcheckIP = TypeOf<typeof NetcheckIP>

export const Netcheck = tailnet("Netcheck", {
  UDP: field(1, bool),
  IPv6: field(2, bool),
  IPv4: field(3, bool),
  IPv6CanSend: field(4, bool),
  IPv4CanSend: field(5, bool),
  ICMPv4: field(6, bool),
  OSHasIPv6: field(7, BoolValue),
  MappingVariesByDestIP: field(8, BoolValue),
  HairPinning: field(9, BoolValue),
  UPnP: field(10, BoolValue),
  PMP: field(11, BoolValue),
  PCP: field(12, BoolValue),
  PreferredDERP: field(13, int53),
  RegionV4Latency: map(14, int53, Duration),
  RegionV6Latency: map(15, int53, Duration),
  GlobalV4: field(17, NetcheckIP),
  GlobalV6: field(18, NetcheckIP)
})
export type Netcheck = TypeOf<typeof Netcheck>

export const P2PEndpoint = tailnet("TelemetryEvent.P2PEndpoint", {
  hash: field(1, string),
  port: field(2, int32),
  fields: field(3, IPFields)
})
export type P2PEndpoint = TypeOf<typeof P2PEndpoint>

export const TelemetryEvent = tailnet("TelemetryEvent", {
  id: field(1, bytes),
  time: field(2, Timestamp),
  application: field(3, string),
  status: field(4, enumeration({ CONNECTED: 0, DISCONNECTED: 1 })),
  client_type: field(6, enumeration({ CLI: 0, AGENT: 1, CODERD: 2, WSPROXY: 3 })),
  node_id_self: field(7, uint64),
  node_id_remote: field(8, uint64),
  p2p_endpoint: field(9, P2PEndpoint),
  home_derp: field(10, int32),
  derp_map: field(11, DERPMap),
  latest_netcheck: field(12, Netcheck),
  connection_age: field(13, Duration),
  connection_setup: field(14, Duration),
  p2p_setup: field(15, Duration),
  derp_latency: field(16, Duration),
  p2p_latency: field(17, Duration),
  throughput_mbits: field(18, FloatValue),
  client_version: field(19, string)
})
export type TelemetryEvent = TypeOf<typeof TelemetryEvent>

export const TelemetryRequest = tailnet("TelemetryRequest", { events: repeated(1, TelemetryEvent) })
export type TelemetryRequest = TypeOf<typeof TelemetryRequest>

export const TelemetryResponse = tailnet("TelemetryResponse", {})

export const WorkspaceUpdatesRequest = tailnet("WorkspaceUpdatesRequest", { workspace_owner_id: field(1, bytes) })
export type WorkspaceUpdatesRequest = TypeOf<typeof WorkspaceUpdatesRequest>

export const WorkspaceStatus = enumeration({
  UNKNOWN: 0,
  PENDING: 1,
  STARTING: 2,
  RUNNING: 3,
  STOPPING: 4,
  STOPPED: 5,
  FAILED: 6,
  CANCELING: 7,
  CANCELED: 8,
  DELETING: 9,
  DELETED: 10
})
export type WorkspaceStatus = TypeOf<typeof WorkspaceStatus>

export const Workspace = tailnet("Workspace", { id: field(1, bytes), name: field(2, string), status: field(3, WorkspaceStatus) })
export type Workspace = TypeOf<typeof Workspace>

export const Agent = tailnet("Agent", { id: field(1, bytes), name: field(2, string), workspace_id: field(3, bytes) })
export type Agent = TypeOf<typeof Agent>

export const WorkspaceUpdate = tailnet("WorkspaceUpdate", {
  upserted_workspaces: repeated(1, Workspace),
  upserted_agents: repeated(2, Agent),
  deleted_workspaces: repeated(3, Workspace),
  deleted_agents: repeated(4, Agent)
})
export type WorkspaceUpdate = TypeOf<typeof WorkspaceUpdate>
export type WorkspaceUpdateInit = InitOf<typeof WorkspaceUpdate>
