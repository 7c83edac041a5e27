/** The relays by which clients and agents reach each other, and the STUN servers that tell them their public addresses. agents-and-apps.md §12. */
import { Either, Schema } from "effect"
import type { Options } from "../deployment/options/DeploymentOptions.js"
import type { WorkspaceProxy } from "../deployment/proxies/WorkspaceProxy.js"
import * as Numbers from "../platform/Numbers.js"

/** A relay, or a STUN server. Members that are left out are false, empty or 0; a port of -1 stands for none. */
export const RelayNode = Schema.Struct({
  Name: Schema.String,
  RegionID: Numbers.Integer,
  HostName: Schema.String,
  CertName: Schema.optional(Schema.String),
  IPv4: Schema.optional(Schema.String),
  IPv6: Schema.optional(Schema.String),
  STUNPort: Schema.optional(Numbers.Integer),
  STUNOnly: Schema.optional(Schema.Boolean),
  DERPPort: Schema.optional(Numbers.Integer),
  InsecureForTests: Schema.optional(Schema.Boolean),
  ForceHTTP: Schema.optional(Schema.Boolean),
  STUNTestIP: Schema.optional(Schema.String),
  CanPort80: Schema.optional(Schema.Boolean)
}).annotations({ identifier: "DERPNode" })
export type RelayNode = typeof RelayNode.Type

/** What a region's latency is multiplied with when a home relay is chosen. */
const Score = Schema.Number.annotations({ jsonSchema: { type: "number", minimum: 0 } })

export const RelayRegion = Schema.Struct({
  EmbeddedRelay: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  RegionID: Numbers.Integer,
  RegionCode: Schema.String,
  RegionName: Schema.String,
  Avoid: Schema.optional(Schema.Boolean),
  Nodes: Schema.Array(RelayNode)
}).annotations({ identifier: "DERPRegion" })
export type RelayRegion = typeof RelayRegion.Type

/** In the spelling that the clients of the ecosystem read. */
export const RelayMap = Schema.Struct({
  HomeParams: Schema.optional(
    Schema.Struct({ RegionScore: Schema.optional(Schema.Record({ key: Schema.String, value: Score })) }).annotations({
      identifier: "DERPHomeParams"
    })
  ),
  /** By the region's number. */
  Regions: Schema.Record({ key: Schema.String, value: RelayRegion }),
  omitDefaultRegions: Schema.optional(Schema.Boolean)
}).annotations({ identifier: "DERPMap" })
export type RelayMap = typeof RelayMap.Type

/** The options that a map is made of. */
export type RelaySettings = Pick<
  Options,
  | "accessUrl"
  | "blockDirectConnections"
  | "brand"
  | "derpServerEnable"
  | "derpServerRegionCode"
  | "derpServerRegionId"
  | "derpServerRegionName"
  | "derpServerStunAddresses"
>

const withoutStun = "disable"

const embedded = ({ accessUrl, derpServerRegionCode, derpServerRegionId: id, derpServerRegionName }: RelaySettings): RelayRegion => {
  const { hostname, port, protocol } = new URL(accessUrl)
  const isPlain = protocol === "http:"
  return {
    EmbeddedRelay: true,
    RegionID: id,
    RegionCode: derpServerRegionCode,
    RegionName: derpServerRegionName,
    Nodes: [
      {
        Name: `${id}b`,
        RegionID: id,
        // Without the brackets of a URL
        HostName: hostname.replace(/^\[(.*)\]$/, "$1"),
        STUNPort: -1,
        DERPPort: port === "" ? (isPlain ? 80 : 443) : Number(port),
        ...(isPlain ? { ForceHTTP: true } : {})
      }
    ]
  }
}

/** The host and the port of `host:port`; undefined for any other text. */
const hostAndPort = (address: string): readonly [host: string, port: number] | undefined => {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]+)):(\d{1,5})$/.exec(address) ?? []
  const host = bracketed ?? plain
  return host === undefined || Number(port) > 65_535 ? undefined : [host, Number(port)]
}

/** Of several replicas with relays of their own, each region may have another number than 999: STUN regions follow it. */
const stunRegion = ({ brand, derpServerRegionId }: RelaySettings, host: string, port: number, index: number): RelayRegion => {
  const id = derpServerRegionId + 1 + index
  const word = brand.charAt(0).toUpperCase() + brand.slice(1)
  return {
    EmbeddedRelay: false,
    RegionID: id,
    RegionCode: `${brand.toLowerCase()}_stun_${id}`,
    RegionName: `${word} STUN ${id}`,
    Nodes: [{ Name: `${id}stun0`, RegionID: id, HostName: host, STUNPort: port, STUNOnly: true }]
  }
}

const withoutStunServers = ({ Regions, ...map }: RelayMap): RelayMap => ({
  ...map,
  Regions: Object.fromEntries(
    Object.entries(Regions).flatMap(([id, region]) => {
      const Nodes = region.Nodes.filter(({ STUNOnly }) => STUNOnly !== true).map((node) => ({ ...node, STUNPort: -1 }))
      return Nodes.length === 0 ? [] : [[id, { ...region, Nodes }]]
    })
  )
})

/** Why settings make no map. */
export interface RelayMapViolation {
  /** The option's name on a command line, without hyphens before it. */
  readonly option: string
  readonly reason: string
}

const violation = (option: string, reason: string) => Either.left<RelayMapViolation>({ option, reason })

/**
 * The map that a deployment's settings make, with the map that an address or a file of theirs gives. A map without relays is a violation, unless
 * the deployment's own relay is off and no other is named.
 */
export const relayMapOf = (settings: RelaySettings, configured?: RelayMap): Either.Either<RelayMap, RelayMapViolation> => {
  const addresses = settings.derpServerStunAddresses
  const isWithoutStun = settings.blockDirectConnections || addresses.includes(withoutStun)
  const regions = new Map<string, RelayRegion>()
  if (settings.derpServerEnable) {
    if (settings.derpServerRegionId < 1) return violation("derp-server-region-id", "must be a positive number")
    if (settings.derpServerRegionCode === "") return violation("derp-server-region-code", "must not be empty")
    if (settings.derpServerRegionName === "") return violation("derp-server-region-name", "must not be empty")
    regions.set(String(settings.derpServerRegionId), embedded(settings))
    if (!isWithoutStun) {
      for (const [index, address] of addresses.entries()) {
        const place = hostAndPort(address)
        if (place === undefined) return violation("derp-server-stun-addresses", "must be host:port")
        const region = stunRegion(settings, ...place, index)
        regions.set(String(region.RegionID), region)
      }
    }
  }
  for (const [id, region] of Object.entries(configured?.Regions ?? {})) {
    if (String(region.RegionID) !== id) return violation("derp-config-path", `names the region ${id} by another number, ${region.RegionID}`)
    if (regions.has(id)) return violation("derp-config-path", `has the region ${id}, which the deployment has already`)
    regions.set(id, region)
  }
  const all: RelayMap = { ...configured, Regions: Object.fromEntries(regions) }
  const map = isWithoutStun ? withoutStunServers(all) : all
  const relays = Object.values(map.Regions).flatMap(({ Nodes }) => Nodes.filter(({ STUNOnly }) => STUNOnly !== true))
  if (relays.length > 0 || (!settings.derpServerEnable && configured === undefined)) return Either.right(map)
  return violation("derp-config-path", "has no relay, and the deployment's own is off")
}

/** The numbers of proxies' regions begin after this one, away from all others. */
const proxyBase = ({ Regions }: RelayMap): number =>
  Math.ceil((Math.max(0, ...Object.values(Regions).map(({ RegionID }) => RegionID)) + 2000) / 10_000) * 10_000

/** A proxy that may relay. */
export type RelayingProxy = Pick<WorkspaceProxy, "name" | "display_name" | "url" | "region_id">

/** The number of a proxy's region in the relay map. `own` is the map without proxies. */
export const proxyRegionId = (own: RelayMap, { region_id }: Pick<RelayingProxy, "region_id">): number => proxyBase(own) + region_id

/** A map with the relays of proxies. One whose number or code is taken is left out. */
export const withProxies = (own: RelayMap, brand: string, proxies: ReadonlyArray<RelayingProxy>): RelayMap => {
  const regions = new Map(Object.entries(own.Regions))
  const codes = new Set(Object.values(own.Regions).map(({ RegionCode }) => RegionCode))
  for (const proxy of proxies) {
    const id = proxyRegionId(own, proxy)
    const code = `${brand.toLowerCase()}_${proxy.name.toLowerCase()}`
    if (regions.has(String(id)) || codes.has(code)) continue
    codes.add(code)
    const { hostname, port, protocol } = new URL(proxy.url)
    const isPlain = protocol === "http:"
    regions.set(String(id), {
      EmbeddedRelay: false,
      RegionID: id,
      RegionCode: code,
      RegionName: proxy.display_name || proxy.name,
      Nodes: [
        {
          Name: `${id}a`,
          RegionID: id,
          HostName: hostname.replace(/^\[(.*)\]$/, "$1"),
          STUNPort: -1,
          DERPPort: port === "" ? (isPlain ? 80 : 443) : Number(port),
          ...(isPlain ? { ForceHTTP: true } : {})
        }
      ]
    })
  }
  return { ...own, Regions: Object.fromEntries(regions) }
}

const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(canonical).toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
  }
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([key, member]) => [key, canonical(member)]))
}

/** Whether two maps have the same relays, in whatever order. */
export const isSameMap = (one: RelayMap, other: RelayMap): boolean =>
  one === other || JSON.stringify(canonical(one)) === JSON.stringify(canonical(other))
