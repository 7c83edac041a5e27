/** Monitors of how full the memory and the volumes of an agent's machine are. agents-and-apps.md §14, notifications-audit-insights.md §A2. */
import { Duration } from "effect"
import * as Timestamp from "../../platform/time/Timestamp.js"

/** How often an agent measures, and how many of the latest measurements it reports together. */
export const collection = { num_datapoints: 20, collection_interval_seconds: 10 }

/** How long nothing is told after the owner was told. */
const debounce = Duration.minutes(30)

export interface ResourceMonitor {
  /** The volume's mount point; empty for memory. */
  readonly path: string
  readonly enabled: boolean
  /** Percent of use from which on there is too little left. */
  readonly threshold: number
  readonly state: "OK" | "NOK"
  readonly debounced_until: Timestamp.Timestamp
}

/** Bytes at one time. */
export interface ResourceUsage {
  readonly used: number
  readonly total: number
}

const percentOf = (count: number, whole: number): number => Math.round((100 * count) / whole)

/** Whether a use has reached the threshold; undefined where it is not known. */
const isOver = (usage: ResourceUsage | undefined, threshold: number): boolean | undefined =>
  usage === undefined || usage.total <= 0 ? undefined : Math.trunc((usage.used / usage.total) * 100) >= threshold

/** The state after the uses of a report, in their order. Too few of either kind leave it as it was. */
export const monitorState = (
  { state, threshold }: Pick<ResourceMonitor, "state" | "threshold">,
  usages: ReadonlyArray<ResourceUsage | undefined>
): ResourceMonitor["state"] => {
  if (usages.length === 0) return state
  const over = usages.map((usage) => isOver(usage, threshold))
  let run = 0
  let longest = 0
  for (const one of over) {
    run = one === true ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  const count = over.filter((one) => one === true).length
  if (percentOf(longest, over.length) >= 50 || percentOf(count, over.length) >= 20) return "NOK"
  return over.every((one) => one === false) ? "OK" : state
}

/** The monitor after a report, and whether its owner is told. */
export const afterReport = (
  monitor: ResourceMonitor,
  usages: ReadonlyArray<ResourceUsage | undefined>,
  now: Timestamp.Timestamp
): { readonly monitor: ResourceMonitor; readonly isTold: boolean } => {
  const state = monitorState(monitor, usages)
  const isTold = monitor.state === "OK" && state === "NOK" && now > monitor.debounced_until
  return { monitor: { ...monitor, state, debounced_until: isTold ? Timestamp.plus(now, debounce) : monitor.debounced_until }, isTold }
}
