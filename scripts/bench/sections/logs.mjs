// Lines of agents' logs, over both ways they come in.
import { AgentService, DrpcClient, Session, Timestamp, Uuid } from "@atelier/agent-protocol"
import { Effect, Option } from "effect"
import { connect, emptyTraffic } from "../../../packages/agent/dist/connection/WebSocketTransport.js"
import { authenticated } from "../deployment.mjs"
import { load } from "../load.mjs"
import { idOf, runningOf } from "../seed.mjs"

const linesPerCall = 100
/** An agent's log holds 1 MiB: after so many calls of about 8 kB its place is taken by the next one. */
const callsPerAgent = 100
/** Agents that send at once. */
const concurrency = 8
const output = "a line of a build's output, as long as such lines are on the average of all builds.."

const overRpc = (port, number, until) =>
  Effect.gen(function* () {
    const transport = yield* connect({
      url: new URL(`ws://127.0.0.1:${port}/api/v2/workspaceagents/me/rpc?version=2.0&role=agent`),
      headers: { "Service-Session-Token": idOf("agentToken", number) },
      traffic: emptyTraffic()
    })
    const session = yield* Session.make(transport, { role: "client" })
    const client = DrpcClient.make(AgentService, session)
    const log_source_id = Option.getOrThrow(Uuid.toBytes(idOf("logSource", number)))
    let lines = 0
    for (let call = 0; call < callsPerAgent && performance.now() < until; call++) {
      const created_at = Timestamp.fromMillis(Date.now())
      const logs = Array.from({ length: linesPerCall }, () => ({ created_at, output, level: "INFO" }))
      const { log_limit_exceeded } = yield* client.BatchCreateLogs({ log_source_id, logs })
      if (log_limit_exceeded) return yield* Effect.dieMessage("an agent's log is full before its time")
      lines += linesPerCall
    }
    return lines
  }).pipe(Effect.scoped)

export const logs = {
  title: "agents' logs",
  run: async ({ database, report, seconds, server }) => {
    const { port } = await server(10_000)
    let agent = 0
    const nextAgent = () => runningOf(agent++)

    const started = performance.now()
    const until = started + seconds(4) * 1000
    const sender = async () => {
      let lines = 0
      while (performance.now() < until) lines += await Effect.runPromise(overRpc(port, nextAgent(), until))
      return lines
    }
    const sent = await Promise.all(Array.from({ length: concurrency }, sender))
    const total = sent.reduce((sum, lines) => sum + lines, 0)
    report.add({
      figure: "log lines over RPC",
      database: database.name,
      value: (total * 1000) / (performance.now() - started),
      unit: "lines/s"
    })

    let calls = 0
    let number = nextAgent()
    const patch = () => {
      if (calls++ % callsPerAgent === callsPerAgent - 1) number = nextAgent()
      const created_at = new Date().toISOString()
      return authenticated(idOf("agentToken", number), "PATCH", "/workspaceagents/me/logs", {
        log_source_id: idOf("logSource", number),
        logs: Array.from({ length: linesPerCall }, () => ({ created_at, output, level: "info" }))
      })
    }
    const { perSecond } = await load({ port, request: patch, connections: concurrency, seconds: seconds(3) })
    report.add({ figure: "log lines over PATCH", database: database.name, value: perSecond * linesPerCall, unit: "lines/s" })
  }
}
