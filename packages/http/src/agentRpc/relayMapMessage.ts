import type { TailnetMessages } from "@atelier/agent-protocol"
import type { RelayMap, RelayNode, RelayRegion } from "@atelier/core/network"

const nodeMessage = (node: RelayNode): TailnetMessages.DerpNode => ({
  name: node.Name,
  region_id: node.RegionID,
  host_name: node.HostName,
  cert_name: node.CertName ?? "",
  ipv4: node.IPv4 ?? "",
  ipv6: node.IPv6 ?? "",
  stun_port: node.STUNPort ?? 0,
  stun_only: node.STUNOnly ?? false,
  derp_port: node.DERPPort ?? 0,
  insecure_for_tests: node.InsecureForTests ?? false,
  force_http: node.ForceHTTP ?? false,
  stun_test_ip: node.STUNTestIP ?? "",
  can_port_80: node.CanPort80 ?? false
})

const regionMessage = (region: RelayRegion): TailnetMessages.Region => ({
  region_id: region.RegionID,
  embedded_relay: region.EmbeddedRelay,
  region_code: region.RegionCode,
  region_name: region.RegionName,
  avoid: region.Avoid ?? false,
  nodes: region.Nodes.map(nodeMessage)
})

const byNumber = <A, B>(record: Readonly<Record<string, A>>, value: (item: A) => B): ReadonlyMap<number, B> =>
  new Map(Object.entries(record).map(([id, item]) => [Number(id), value(item)]))

/** A relay map as agents and clients get it. Clients dereference `home_params`, so it is there, if only empty. agents-and-apps.md §15. */
export const relayMapMessage = ({ HomeParams, Regions }: RelayMap): TailnetMessages.DERPMap => ({
  home_params: { region_score: byNumber(HomeParams?.RegionScore ?? {}, (score) => score) },
  regions: byNumber(Regions, regionMessage)
})
