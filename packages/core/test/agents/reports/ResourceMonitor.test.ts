import { describe, expect, it } from "vitest"
import { Timestamp } from "../../../src/platform/index.js"
import { afterReport, monitorState, type ResourceMonitor } from "../../../src/agents/index.js"

const at = (percent: number) => ({ used: percent * 10 + 9, total: 1_000 })
const times = <A>(count: number, value: A): ReadonlyArray<A> => Array.from({ length: count }, () => value)
const [low, high] = [at(79), at(80)]

describe("a monitor with a threshold of 80 %", () => {
  it.each<[string, ResourceMonitor["state"], ReadonlyArray<ReturnType<typeof at> | undefined>, ResourceMonitor["state"]]>([
    ["is over after one fifth of the datapoints", "OK", [...times(16, low), ...times(4, high)], "NOK"],
    ["stays after less than one fifth", "OK", [...times(17, low), ...times(3, high)], "OK"],
    ["stays over until all datapoints are below", "NOK", [...times(19, low), high], "NOK"],
    ["is well again after datapoints below alone", "NOK", times(20, low), "OK"],
    ["counts a missing datapoint neither way", "NOK", [...times(19, low), undefined], "NOK"],
    ["does not count a size of zero", "OK", times(20, { used: 0, total: 0 }), "OK"],
    ["stays after a report without datapoints", "NOK", [], "NOK"],
    ["is over after half of two datapoints", "OK", [low, high], "NOK"]
  ])("%s", (_, state, usages, expected) => {
    expect(monitorState({ state, threshold: 80 }, usages)).toBe(expected)
  })

  it("tells its owner at most once in 30 minutes, and only when it goes over", () => {
    const start = Timestamp.fromMillis(1_000_000)
    const monitor: ResourceMonitor = { path: "", enabled: true, threshold: 80, state: "OK", debounced_until: Timestamp.fromMillis(0) }
    const first = afterReport(monitor, [high], start)
    expect(first).toStrictEqual({
      monitor: { ...monitor, state: "NOK", debounced_until: Timestamp.plus(start, "30 minutes") },
      isTold: true
    })
    const still = afterReport(first.monitor, [high], Timestamp.plus(start, "31 minutes"))
    expect(still.isTold).toBe(false)
    const well = afterReport(first.monitor, [low], Timestamp.plus(start, "1 minute"))
    expect(well.monitor.state).toBe("OK")
    expect(afterReport(well.monitor, [high], Timestamp.plus(start, "30 minutes")).isTold).toBe(false)
    expect(afterReport(well.monitor, [high], Timestamp.plus(start, "1801 seconds")).isTold).toBe(true)
  })
})
