import { Clock, Duration, Effect } from "effect"
import { Duration as WireDuration } from "@atelier/agent-protocol"
import type { Connection } from "../connection/Connection.js"
import type { SessionCounts } from "../ssh/Ssh.js"
import type { Traffic } from "../connection/WebSocketTransport.js"

/** Bounds of the interval the server may ask for. */
const shortest = Duration.seconds(1)
const longest = Duration.hours(1)

/** Until the server has said otherwise (agents-and-apps.md §9). */
const defaultInterval = Duration.seconds(30)

const since = (now: Traffic, before: Traffic): Traffic => ({
  receivedBytes: now.receivedBytes - before.receivedBytes,
  receivedMessages: now.receivedMessages - before.receivedMessages,
  sentBytes: now.sentBytes - before.sentBytes,
  sentMessages: now.sentMessages - before.sentMessages
})

const gauge = (name: string, value: number) => ({ name, type: "GAUGE", value }) as const

/**
 * Reports statistics as often as the server asks for, until interrupted: what went through the connection to the server since the last report, the
 * sessions of SSH that are open, and how the agent itself does. Spec: agents-and-apps.md §9.
 */
export const report = (connection: Connection, sessions: () => SessionCounts): Effect.Effect<never> =>
  Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    let reported: Traffic = { receivedBytes: 0, receivedMessages: 0, sentBytes: 0, sentMessages: 0 }

    const send = Effect.gen(function* () {
      const now = { ...connection.traffic }
      const { receivedBytes, receivedMessages, sentBytes, sentMessages } = since(now, reported)
      const { jetbrains, ssh, vscode } = sessions()
      const uptime = (yield* Clock.currentTimeMillis) - startedAt
      const answer = yield* connection.call((client) =>
        client.UpdateStats({
          stats: {
            rx_bytes: receivedBytes,
            rx_packets: receivedMessages,
            tx_bytes: sentBytes,
            tx_packets: sentMessages,
            session_count_ssh: ssh,
            session_count_vscode: vscode,
            session_count_jetbrains: jetbrains,
            metrics: [gauge("agent_uptime_seconds", uptime / 1000), gauge("agent_resident_memory_bytes", process.memoryUsage.rss())]
          }
        })
      )
      reported = now
      return answer
    })

    const interval = yield* connection.call((client) => client.UpdateStats({})).pipe(Effect.map(intervalOf), Effect.catchAll(unknown))
    const reporting = (every: Duration.Duration): Effect.Effect<never> =>
      send.pipe(
        Effect.delay(every),
        Effect.map(intervalOf),
        Effect.catchAll(() => Effect.succeed(every)),
        Effect.flatMap(reporting)
      )
    return yield* reporting(interval)
  })

const unknown = (error: { readonly message: string }) =>
  Effect.as(Effect.logWarning(`The server does not say how often it wants statistics: ${error.message}`), defaultInterval)

const intervalOf = ({ report_interval }: { readonly report_interval?: WireDuration.Duration }): Duration.Duration =>
  report_interval === undefined || WireDuration.toMillis(report_interval) <= 0
    ? defaultInterval
    : Duration.clamp(WireDuration.toDuration(report_interval), { minimum: shortest, maximum: longest })
