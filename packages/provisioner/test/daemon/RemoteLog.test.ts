import { type ProvisionerDaemonClient, RpcError } from "@atelier/agent-protocol"
import { Effect, Fiber, TestClock } from "effect"
import { expect, it } from "@effect/vitest"
import { make } from "../../src/daemon/RemoteLog.js"

/** A server that answers each update as `answer` says. Its other calls are not made. */
const aServer = (answer: ProvisionerDaemonClient["UpdateJob"]): ProvisionerDaemonClient =>
  ({ UpdateJob: answer }) satisfies Partial<ProvisionerDaemonClient> as ProvisionerDaemonClient

it.scoped("a job's log goes on after a batch that the server refuses, and still hears of a cancellation", () =>
  Effect.gen(function* () {
    const taken: Array<string> = []
    let calls = 0
    const server = aServer(({ logs = [] }) =>
      Effect.suspend(() => {
        calls += 1
        if (calls === 1) return new RpcError({ code: 0, message: "the store does not answer" })
        for (const { output = "" } of logs) taken.push(output)
        return Effect.succeed({ canceled: calls === 3, variable_values: [] })
      })
    )
    const log = yield* make(server, "1")
    const say = (output: string) =>
      Effect.zipRight(log.write({ source: "provisioner", level: "info", stage: "Plan", output }), TestClock.adjust("1 second"))
    yield* say("refused")
    yield* say("taken")
    const canceled = yield* Effect.fork(log.canceled)
    yield* TestClock.adjust("6 seconds")
    yield* Fiber.join(canceled)
    yield* say("last")
    yield* log.close
    expect(taken).toStrictEqual(["taken", "last"])
  })
)
