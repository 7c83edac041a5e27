/** How often an agent may call the service over its connections. */
import { Effect, Either } from "effect"
import { expect, it, onTestFinished } from "vitest"
import { sqlite } from "../../../../test/store/databases.js"
import { startAgentServer } from "./AgentServer.js"

it("an agent that floods the service is refused on all its connections, and others are not", async () => {
  const options = { dangerousDisableRateLimits: false, apiRateLimit: 20 }
  const server = await startAgentServer(sqlite, { options })
  onTestFinished(() => server.close())
  const flooding = await server.anAgent()
  const quiet = await server.anAgent()
  const first = await server.connect(flooding.token)
  const second = await server.connect(flooding.token, "?role=other")
  const other = await server.connect(quiet.token)
  const answered = async ({ agent }: typeof first, calls: number) => {
    const answers = await Effect.runPromise(Effect.all(Array.from({ length: calls }, () => Effect.either(agent.UpdateStats({})))))
    return answers.filter(Either.isRight).length
  }
  const ofFirst = await answered(first, 500)
  expect(ofFirst).toBeGreaterThanOrEqual(240)
  expect(ofFirst).toBeLessThan(500)
  expect(await answered(second, 100)).toBeLessThan(100)
  expect(await answered(other, 100)).toBe(100)
  await Promise.all([first, second, other].map((connection) => connection.close()))
})
