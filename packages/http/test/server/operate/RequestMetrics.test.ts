import { Metric } from "effect"
import { describe, expect, it } from "vitest"
import { requestMetrics } from "../../../src/server/operate/RequestMetrics.js"

/** The codes that are counted of a path, with their counts. */
const codesOf = (path: string): ReadonlyArray<readonly [code: string | undefined, count: number]> =>
  Metric.unsafeSnapshot().flatMap(({ metricKey, metricState }) => {
    const labels = new Map(metricKey.tags.map(({ key, value }) => [key, value]))
    return metricKey.name === "api_requests_processed_total" && labels.get("path") === path && "count" in metricState
      ? [[labels.get("code"), Number(metricState.count)] as const]
      : []
  })

describe("the metrics of requests", () => {
  it("count each route by itself, however many there are", () => {
    const count = requestMetrics()
    const statuses = [200, 201, 204, 400, 401, 403, 404, 409]
    for (let index = 0; index < 150; index++) {
      for (const status of statuses) count("GET", `/counted/${index}`).end(status)
    }
    expect(codesOf("/counted/149")).toEqual(statuses.map((status) => [String(status), 1]))
  })

  it("add up the statuses that HTTP does not define", () => {
    const count = requestMetrics()
    for (const status of [701, 702, 703]) count("GET", "/undefined").end(status)
    expect(codesOf("/undefined")).toEqual([["other", 3]])
  })

  it("count a client that goes before its answer", () => {
    requestMetrics()("GET", "/gone").end(undefined)
    expect(codesOf("/gone")).toEqual([["499", 1]])
  })

  it("count a WebSocket that outlives its request until it ends", () => {
    const counted = requestMetrics()("GET", "/outlived")
    const over = counted.outlived()
    counted.end(200)
    expect(codesOf("/outlived")).toEqual([])
    over()
    counted.end(200)
    expect(codesOf("/outlived")).toEqual([["101", 1]])
  })
})
