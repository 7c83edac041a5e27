/** How many requests there are, how long they take, and how they end. notifications-audit-insights.md Part E. */
import { Measure } from "@atelier/core/platform"
import { STATUS_CODES } from "node:http"

/** The status that is counted where the client went before its answer. */
const clientGone = 499

/** Enough for every route with all statuses that it answers. */
const maximumSeries = 10_000

const processed = Measure.counter("api_requests_processed_total", "Requests that were answered.", ["code", "method", "path"], maximumSeries)

const latencies = Measure.histogram(
  "api_request_latencies_seconds",
  "Time until the head of the answer, without WebSockets.",
  [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  ["method", "path"]
)

const concurrent = Measure.level("api_concurrent_requests", "Requests that are being answered, without WebSockets.", ["method", "path"])

const sockets = Measure.level("api_concurrent_websockets", "WebSockets that are open.", ["path"])

const durations = Measure.histogram(
  "api_websocket_durations_seconds",
  "How long WebSockets were open.",
  [0.001, 1, 60, 600, 3_600, 36_000, 86_400],
  ["path"]
)

/** Apps choose the statuses of their own answers: those that HTTP does not define are one. */
const codeOf = (status: number): string => (status in STATUS_CODES || status === clientGone ? String(status) : "other")

const methods = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"])

/** A request that is being counted. */
export interface Counted {
  /** The request is a WebSocket from now on, until `end`. */
  readonly upgraded: () => void
  /** The request is a WebSocket from now on, which outlives it: until the function that is returned is called. */
  readonly outlived: () => () => void
  /** The request ended: with a status, or without an answer. */
  readonly end: (status: number | undefined) => void
}

/** The path of apps in workspaces, which has a name of the user's own in each part. */
export const appPath = "/@{user}/{workspace}/apps/{app}"

/** The path of the web console, whose files and screens are counted as one. */
export const consolePath = "/{console}"

interface PathSeries {
  readonly running: Measure.Series
  readonly latency: Measure.Series
  readonly codes: Map<number, Measure.Series>
}

/**
 * Counts requests by the paths of their routes, never by their own: clients choose these, and a registry keeps each for ever. The series of a path are
 * looked up once, since the labels' comparison costs more than the count.
 */
export const requestMetrics = () => {
  const byMethod = new Map<string, Map<string, PathSeries>>()

  const seriesOf = (method: string, path: string): PathSeries => {
    const paths = byMethod.get(method) ?? new Map<string, PathSeries>()
    byMethod.set(method, paths)
    const known = paths.get(path)
    if (known !== undefined) return known
    const made = { running: concurrent(method, path), latency: latencies(method, path), codes: new Map() }
    paths.set(path, made)
    return made
  }

  /** `path` is the pattern of the route; undefined where the request has none. */
  return (sent: string, path = "unmatched"): Counted => {
    const method = methods.has(sent) ? sent : "other"
    const { codes, latency, running } = seriesOf(method, path)
    const started = performance.now()
    let isSocket = false
    let isOutlived = false
    let isOver = false
    running.update(1)
    const upgraded = (): void => {
      if (isSocket || isOver) return
      isSocket = true
      running.update(-1)
      sockets(path).update(1)
    }
    const over = (status: number | undefined): void => {
      if (isOver) return
      isOver = true
      const seconds = (performance.now() - started) / 1000
      if (isSocket) {
        sockets(path).update(-1)
        durations(path).update(seconds)
      } else {
        running.update(-1)
        latency.update(seconds)
      }
      const code = isSocket ? 101 : (status ?? clientGone)
      let count = codes.get(code)
      if (count === undefined) {
        count = processed(codeOf(code), method, path)
        codes.set(code, count)
      }
      count.update(1)
    }
    return {
      upgraded,
      outlived: () => {
        upgraded()
        isOutlived = true
        return () => over(undefined)
      },
      end: (status) => {
        if (!isOutlived) over(status)
      }
    }
  }
}
