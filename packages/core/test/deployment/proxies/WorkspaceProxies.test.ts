import { appHostPattern, findingOf } from "@atelier/core/deployment"
import { withProxies, proxyRegionId } from "@atelier/core/network"
import { Either } from "effect"
import { describe, expect, it } from "vitest"

describe("the host names of apps", () => {
  it.each([
    ["", "https://dev.example.com", ""],
    ["*.apps.example.com", "https://dev.example.com", "*.apps.example.com"],
    ["*.apps.example.com", "http://dev.example.com:3000", "*.apps.example.com:3000"],
    ["*.apps.example.com:7130", "http://dev.example.com:3000", "*.apps.example.com:7130"]
  ])("of %s beside %s are %s", (wildcardAccessUrl, accessUrl, host) => {
    expect(appHostPattern({ accessUrl, wildcardAccessUrl })).toBe(host)
  })
})

describe("the health of a proxy", () => {
  const answer = (status: number, text: string) => findingOf(Either.right({ status, text }))

  it.each([
    ["with a report without errors", answer(200, '{"errors":null,"warnings":["slow"]}'), "ok", [], ["slow"]],
    ["with errors", answer(200, '{"errors":["broken"]}'), "unhealthy", ["broken"], []],
    ["that is not OK", answer(503, "{}"), "unhealthy", ["The proxy answers with status 503."], []],
    ["that is no report", answer(200, "<html>"), "unhealthy", ["The proxy's answer is no report of health."], []],
    ["that does not come", findingOf(Either.left(new Error("refused"))), "unreachable", ["refused"], []]
  ] as const)("follows from an answer %s", (_, { report, status }, expected, errors, warnings) => {
    expect([status, report]).toStrictEqual([expected, { errors, warnings }])
  })
})

describe("a relay map with proxies", () => {
  const own = {
    Regions: { "999": { EmbeddedRelay: true, RegionID: 999, RegionCode: "service", RegionName: "Own", Nodes: [] } }
  }
  const proxy = (name: string, region_id: number, url: string) => ({ name, display_name: "", url, region_id })

  it("numbers them away from all others, and leaves out those whose code is taken", () => {
    const { Regions } = withProxies(own, "service", [
      proxy("east", 1, "https://east.example.com"),
      proxy("EAST", 2, "https://other.example.com"),
      proxy("six", 3, "http://[::1]:8080")
    ])
    expect(Object.keys(Regions)).toStrictEqual(["999", "10001", "10003"])
    expect(Regions["10001"]?.Nodes).toStrictEqual([
      { Name: "10001a", RegionID: 10001, HostName: "east.example.com", STUNPort: -1, DERPPort: 443 }
    ])
    expect(Regions["10003"]?.Nodes[0]).toMatchObject({ HostName: "::1", DERPPort: 8080, ForceHTTP: true })
    const far = { Regions: { "10500": { ...own.Regions["999"], RegionID: 10500 } } }
    expect(proxyRegionId(far, { region_id: 7 })).toBe(20007)
  })
})
