/** Limits how often a caller asks for a path. identity.md §1.8. */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { service } from "@atelier/core/platform"
import { Context, Effect } from "effect"
import { TooManyRequests } from "../../wire/errors.js"
import type { Quota, RequestInfo } from "./CurrentRequest.js"
import { refuseAt } from "../codec/respond.js"

export type LimiterName = "api" | "apps" | "login" | "files" | "oauth2"

/**
 * Calls per minute. One page of a development server may ask for thousands of modules, and again at each reload: the limit of apps and terminals keeps
 * a caller from nothing but a flood.
 */
const fixedLimits = { apps: 30_000, login: 60, files: 12, oauth2: 120 } as const

/** How many times the calls of one caller to one path an agent may make. An agent makes some calls in a second at most, and most of them store a row. */
const timesOfAgents = 12

/** The window in milliseconds; windows begin at full minutes. */
const windowMillis = 60_000

/** Callers times paths that are counted at once, per limiter and window; beyond it the longest known are forgotten. */
const maximumKeys = 50_000

/** Characters of a path that tell calls apart. */
const maximumPath = 256

export interface Options {
  /** Calls per minute of one caller to one path; 0 or less is no limit. */
  readonly api: number
  readonly disableAll: boolean
}

export class RateLimiter extends Context.Tag("@atelier/http/RateLimiter")<
  RateLimiter,
  {
    /**
     * Counts a call of an operation. Answers the refusal when it is one too many; notes the limiter's state for the response's headers.
     * Without an operation the path tells calls apart.
     */
    readonly take: (limiter: LimiterName, request: RequestInfo, operation?: string) => HttpServerResponse.HttpServerResponse | undefined

    /** Counts a call that an agent makes over one of its connections. Returns whether it may be answered. */
    readonly mayCall: (agent: string) => boolean
  }
>() {
  /** Counts in this process's memory. */
  static readonly layer = (options: Options) =>
    service(
      RateLimiter,
      Effect.map(Effect.clock, (clock) => {
        const off = (limit: number) => options.disableAll || limit <= 0
        const windows = {
          api: off(options.api) ? undefined : makeWindow(options.api),
          apps: off(options.api) ? undefined : makeWindow(fixedLimits.apps),
          login: off(fixedLimits.login) ? undefined : makeWindow(fixedLimits.login),
          files: off(fixedLimits.files) ? undefined : makeWindow(fixedLimits.files),
          oauth2: off(fixedLimits.oauth2) ? undefined : makeWindow(fixedLimits.oauth2)
        }
        const calls = off(options.api) ? undefined : makeWindow(timesOfAgents * options.api)
        return RateLimiter.of({
          mayCall: (agent) => calls === undefined || calls.count(agent, clock.unsafeCurrentTimeMillis()).allowed,
          take: (name, request, operation) => {
            const window = windows[name]
            if (window === undefined) return undefined
            const now = clock.unsafeCurrentTimeMillis()
            const { allowed, quota } = request.unlimited ? window.uncounted(now) : window.count(keyOf(request, operation), now)
            request.quota = quota
            if (allowed) return undefined
            return refuseAt(
              request.path,
              new TooManyRequests({
                message: `You've been rate limited for sending more than ${quota.limit} requests in one minute.`
              })
            )
          }
        })
      })
    )
}

/** The key of a counter: a user, or else an address with its IPv6 neighbours of the same /64. */
const keyOf = ({ ip, path, user }: RequestInfo, operation: string | undefined): string => {
  const caller = user !== undefined && user._tag === "Right" ? user.right.userId : network(ip)
  if (operation !== undefined) return `${caller} ${operation}`
  // Where a path works with a slash behind it too, it is the same path
  const called = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
  // Names of users and ids are the same in either case: each way to write one would be another try at a password
  return `${caller} ${called.slice(0, maximumPath).toLowerCase()}`
}

/** An IPv4 address, or the first 64 bits of an IPv6 address. */
export const network = (ip: string): string => {
  if (!ip.includes(":")) return ip
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1]
  if (mapped !== undefined) return mapped
  const [head = "", tail] = (ip.split("%")[0] ?? "").split("::")
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const groups =
    tail === undefined ? before : [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0"), ...after]
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""))
    .join(":")
}

interface Counted {
  readonly allowed: boolean
  readonly quota: Quota
}

/**
 * Approximates a sliding window by two fixed ones: the previous one counts by the part of it that still reaches into the last
 * minute. Refused calls are not counted.
 */
export const makeWindow = (limit: number) => {
  let start = 0
  let previous: Map<string, number> = new Map()
  let current: Map<string, number> = new Map()
  const beginOf = (now: number): number => Math.floor(now / windowMillis) * windowMillis
  const quotaOf = (window: number, remaining: number): Quota => ({ limit, remaining, reset: (window + windowMillis) / 1000 })
  const count = (key: string, now: number): Counted => {
    const window = beginOf(now)
    if (window !== start) {
      previous = window === start + windowMillis ? current : new Map()
      current = new Map()
      start = window
    }
    const remainingFraction = (window + windowMillis - now) / windowMillis
    const counted = current.get(key) ?? 0
    const rate = Math.round((previous.get(key) ?? 0) * remainingFraction + counted)
    const allowed = rate + 1 <= limit
    if (allowed) {
      if (counted === 0 && current.size >= maximumKeys) forgetOldest(current)
      current.set(key, counted + 1)
    }
    return { allowed, quota: quotaOf(window, Math.max(0, limit - rate - (allowed ? 1 : 0))) }
  }
  /** The answer for a call that no limit holds back: that of a caller's first one. */
  const uncounted = (now: number): Counted => ({ allowed: true, quota: quotaOf(beginOf(now), limit - 1) })
  return { count, uncounted }
}

const forgetOldest = (counts: Map<string, number>): void => {
  for (const key of counts.keys()) {
    counts.delete(key)
    return
  }
}
