import { Effect } from "effect"
import { makePair, Session } from "@atelier/agent-protocol"

/** Two sessions connected in memory. */
export const connected = (options: Partial<Session.Options> = {}) =>
  Effect.gen(function* () {
    const [near, far] = yield* makePair
    const client = yield* Session.make(near, { ...options, role: "client" })
    const server = yield* Session.make(far, { ...options, role: "server" })
    return { client, server }
  })
