import { Metric, MetricBoundaries } from "effect"
import { describe, expect, it } from "vitest"
import { gauges, metricsOfProcess, textOf } from "../../src/insights/metrics/MetricFamily.js"
import * as Measure from "../../src/platform/Measure.js"

const linesOf = (name: string): ReadonlyArray<string> =>
  textOf(metricsOfProcess("testd_"))
    .split("\n")
    .filter((line) => line.includes(name))

describe("the text of metrics", () => {
  it("escapes help and labels", () => {
    expect(textOf([gauges("a", "one\ntwo \\", [[{ name: 'b"c\\d\ne' }, 1.5]])])).toBe(
      '# HELP a one\\ntwo \\\\\n# TYPE a gauge\na{name="b\\"c\\\\d\\ne"} 1.5\n'
    )
  })

  it("leaves out families without samples", () => {
    expect(textOf([gauges("a", "", [])])).toBe("")
  })

  it("has the cumulated buckets of histograms", () => {
    const seconds = Measure.histogram("test_seconds", "Seconds.", [1, 5], ["path"])
    for (const value of [0.5, 1, 2, 9]) seconds("/x").update(value)
    expect(linesOf("test_seconds")).toEqual([
      "# HELP testd_test_seconds Seconds.",
      "# TYPE testd_test_seconds histogram",
      'testd_test_seconds_bucket{path="/x",le="1"} 2',
      'testd_test_seconds_bucket{path="/x",le="5"} 3',
      'testd_test_seconds_bucket{path="/x",le="+Inf"} 4',
      'testd_test_seconds_sum{path="/x"} 12.5',
      'testd_test_seconds_count{path="/x"} 4'
    ])
  })

  it("puts the prefix before the product's names and not before the host's", () => {
    Measure.level("test_running", "Running.", [])().update(2)
    Metric.histogram("host.seconds", MetricBoundaries.fromIterable([1])).unsafeUpdate(3, [])
    expect(linesOf("test_running")).toContain("testd_test_running 2")
    expect(linesOf("host_seconds")).toContain("host_seconds_count 1")
  })

  it("adds up what goes beyond the maximum of series", () => {
    const many = Measure.counter("test_many_total", "Many.", ["name"])
    for (let index = 0; index < Measure.maximumSeries + 10; index++) many(`n${index}`).update(1)
    const lines = linesOf("testd_test_many_total{")
    expect(lines).toHaveLength(Measure.maximumSeries)
    expect(lines).toContain('testd_test_many_total{name="other"} 11')
  })

  it("has as many series as its declaration says", () => {
    const few = Measure.counter("test_few_total", "Few.", ["name"], 3)
    for (const name of ["a", "b", "c", "d"]) few(name).update(1)
    expect(linesOf("testd_test_few_total{")).toEqual([
      'testd_test_few_total{name="a"} 1',
      'testd_test_few_total{name="b"} 1',
      'testd_test_few_total{name="other"} 2'
    ])
  })
})
