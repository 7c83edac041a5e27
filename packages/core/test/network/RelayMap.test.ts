import { isSameMap, type RelayMap, relayMapOf, type RelaySettings } from "@atelier/core/network"
import { describe, expect, it } from "@effect/vitest"
import { Either } from "effect"

const settings: RelaySettings = {
  accessUrl: "http://127.0.0.1:3600",
  blockDirectConnections: false,
  brand: "service",
  derpServerEnable: true,
  derpServerRegionCode: "service",
  derpServerRegionId: 999,
  derpServerRegionName: "Embedded Relay",
  derpServerStunAddresses: ["stun.example:19302", "[fd00::1]:3478"]
}

const embedded = {
  EmbeddedRelay: true,
  RegionID: 999,
  RegionCode: "service",
  RegionName: "Embedded Relay",
  Nodes: [{ Name: "999b", RegionID: 999, HostName: "127.0.0.1", STUNPort: -1, DERPPort: 3600, ForceHTTP: true }]
}

const other = (RegionID: number, STUNOnly = false) => ({
  EmbeddedRelay: false,
  RegionID,
  RegionCode: "other",
  RegionName: "Other",
  Nodes: [{ Name: `${RegionID}a`, RegionID, HostName: "relay.example", DERPPort: 443, STUNPort: 3478, ...(STUNOnly ? { STUNOnly } : {}) }]
})

const mapOf = (change: Partial<RelaySettings> = {}, configured?: RelayMap) => relayMapOf({ ...settings, ...change }, configured)

const regionsOf = (change: Partial<RelaySettings>, configured?: RelayMap) =>
  Either.map(mapOf(change, configured), ({ Regions }) => Object.keys(Regions))

describe("the relay map", () => {
  it("has the embedded relay, and a region for each STUN server", () => {
    expect(Either.getOrThrow(mapOf())).toStrictEqual({
      Regions: {
        "999": embedded,
        "1000": {
          EmbeddedRelay: false,
          RegionID: 1000,
          RegionCode: "service_stun_1000",
          RegionName: "Service STUN 1000",
          Nodes: [{ Name: "1000stun0", RegionID: 1000, HostName: "stun.example", STUNPort: 19302, STUNOnly: true }]
        },
        "1001": {
          EmbeddedRelay: false,
          RegionID: 1001,
          RegionCode: "service_stun_1001",
          RegionName: "Service STUN 1001",
          Nodes: [{ Name: "1001stun0", RegionID: 1001, HostName: "fd00::1", STUNPort: 3478, STUNOnly: true }]
        }
      }
    })
  })

  it.each([
    ["https://dev.example.com", "dev.example.com", 443, undefined],
    ["http://dev.example.com/prefix", "dev.example.com", 80, true],
    ["https://[::1]:8443", "::1", 8443, undefined]
  ])("names the relay of %s by its host and port", (accessUrl, HostName, DERPPort, ForceHTTP) => {
    const { Regions } = Either.getOrThrow(mapOf({ accessUrl }))
    expect(Regions["999"]?.Nodes).toMatchObject([{ HostName, DERPPort }])
    expect(Regions["999"]?.Nodes[0]?.ForceHTTP).toBe(ForceHTTP)
  })

  it.each<readonly [string, Partial<RelaySettings>]>([
    ["the word disable", { derpServerStunAddresses: ["disable"] }],
    ["relayed connections alone", { blockDirectConnections: true }]
  ])("has no STUN servers with %s", (_, change) => {
    const configured = { Regions: { "5": other(5), "6": other(6, true) } }
    const { Regions } = Either.getOrThrow(mapOf(change, configured))
    expect(Object.keys(Regions)).toStrictEqual(["5", "999"])
    expect(Object.values(Regions).flatMap(({ Nodes }) => Nodes.map(({ STUNPort }) => STUNPort))).toStrictEqual([-1, -1])
  })

  it("adds the regions of a configured map", () => {
    expect(regionsOf({ derpServerStunAddresses: [] }, { Regions: { "5": other(5) } })).toStrictEqual(Either.right(["5", "999"]))
    expect(regionsOf({ derpServerEnable: false }, { Regions: { "5": other(5) } })).toStrictEqual(Either.right(["5"]))
  })

  it("may be empty where no relay is wanted", () => {
    expect(regionsOf({ derpServerEnable: false })).toStrictEqual(Either.right([]))
  })

  it.each<readonly [string, Partial<RelaySettings>, RelayMap | undefined]>([
    ["derp-config-path", {}, { Regions: { "999": other(999) } }],
    ["derp-config-path", {}, { Regions: { "5": other(6) } }],
    ["derp-config-path", { derpServerEnable: false }, { Regions: {} }],
    ["derp-config-path", { derpServerEnable: false }, { Regions: { "5": other(5, true) } }],
    ["derp-server-region-id", { derpServerRegionId: 0 }, undefined],
    ["derp-server-region-code", { derpServerRegionCode: "" }, undefined],
    ["derp-server-region-name", { derpServerRegionName: "" }, undefined],
    ["derp-server-stun-addresses", { derpServerStunAddresses: ["stun.example"] }, undefined],
    ["derp-server-stun-addresses", { derpServerStunAddresses: ["stun.example:70000"] }, undefined]
  ])("is refused for %s: %j %j", (option, change, configured) => {
    expect(mapOf(change, configured)).toMatchObject(Either.left({ option }))
  })

  it("is the same in another order, and another with another relay", () => {
    const [one, two] = [other(5), other(6)]
    expect(isSameMap({ Regions: { "5": one, "6": two } }, { Regions: { "6": { ...two, Nodes: [...two.Nodes] }, "5": one } })).toBe(true)
    expect(isSameMap({ Regions: { "5": one } }, { Regions: { "5": { ...one, RegionName: "New" } } })).toBe(false)
  })
})
