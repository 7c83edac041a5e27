import { gauges, type MetricFamily } from "@atelier/core/insights"
import { performance } from "node:perf_hooks"

/** What a Node process knows of itself: its version, memory, time of the processor and the load of its event loop. */
export const processMetrics = (version: string) => {
  const startedAt = Math.round(performance.timeOrigin / 1000)
  return (prefix: string): ReadonlyArray<MetricFamily> => {
    const { system, user } = process.cpuUsage()
    const { heapUsed, rss } = process.memoryUsage()
    const { active, idle } = performance.eventLoopUtilization()
    const counted = (name: string, help: string, value: number): MetricFamily => ({
      name,
      help,
      type: "counter",
      samples: [{ labels: {}, value }]
    })
    return [
      gauges(`${prefix}build_info`, "The version that runs.", [[{ version, revision: "" }, 1]]),
      gauges("process_start_time_seconds", "When the process began, in seconds since 1970.", [[{}, startedAt]]),
      gauges("process_resident_memory_bytes", "Memory of the process.", [[{}, rss]]),
      gauges("nodejs_heap_used_bytes", "Memory that objects of the process use.", [[{}, heapUsed]]),
      counted("process_cpu_seconds_total", "Time that processors worked for the process.", (system + user) / 1e6),
      counted("nodejs_eventloop_active_seconds_total", "Time that the event loop was busy.", active / 1000),
      counted("nodejs_eventloop_idle_seconds_total", "Time that the event loop waited.", idle / 1000)
    ]
  }
}
