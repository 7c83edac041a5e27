import { describe, expect, it } from "vitest"
import { gauges } from "../../src/insights/metrics/MetricFamily.js"
import { joined } from "../../src/insights/metrics/ProcessGroup.js"

const family = (value: number) => gauges("heap_bytes", "Memory.", [[{ space: "new" }, value]])

describe("the metrics of several processes", () => {
  it("are one family for each name, with the process as a label", () => {
    expect(joined({ number: 1, families: [family(1)] }, [{ number: 2, families: [family(2)] }])).toStrictEqual([
      {
        name: "heap_bytes",
        help: "Memory.",
        type: "gauge",
        samples: [
          { labels: { space: "new", worker: "1" }, value: 1 },
          { labels: { space: "new", worker: "2" }, value: 2 }
        ]
      }
    ])
  })

  it("keep values that are no numbers", () => {
    const [one] = joined({ number: 1, families: [] }, [{ number: 2, families: [family(Number.NaN)] }])
    expect(one?.samples).toStrictEqual([{ labels: { space: "new", worker: "2" }, value: Number.NaN }])
  })

  it("leave out an answer that has no families", () => {
    expect(joined({ number: 1, families: [family(1)] }, [{ number: 2, families: "none" }])).toHaveLength(1)
    expect(joined({ number: 1, families: [] }, [{ number: 2, families: [{ name: "heap_bytes" }] }])).toStrictEqual([])
  })
})
