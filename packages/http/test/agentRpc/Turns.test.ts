import { Uuid } from "@atelier/core/platform"
import { Effect, Exit, Fiber } from "effect"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { makeTurns } from "../../src/agentRpc/Turns.js"

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => vi.useRealTimers())

const limits = { places: 2, waitsFor: 10_000, keptFor: 5_000 }

const idOf = (index: number): Uuid.Uuid => Uuid.Uuid.make(`00000000-0000-4000-8000-00000000000${index}`)

/** Several turns of the event loop. */
const turnsOfLoop = async (): Promise<void> => {
  for (let count = 0; count < 10; count++) await new Promise((resolve) => setImmediate(resolve))
}

/** Agents by their numbers: those that have begun, with what ends their turns, and those that were refused. */
const setUp = ({ turns = makeTurns(limits) } = {}) => {
  const begun: Array<number> = []
  const refused: Array<readonly [agent: number, message: string]> = []
  const leaves = new Map<number, () => void>()
  const ask = (agent: number) => {
    const fiber = Effect.runFork(turns.turnOf(idOf(agent)))
    fiber.addObserver((exit) => {
      if (Exit.isSuccess(exit)) {
        begun.push(agent)
        leaves.set(agent, exit.value)
      } else if (exit.cause._tag === "Fail") refused.push([agent, exit.cause.error.message])
    })
    return fiber
  }
  return { ask, begun, leave: (agent: number) => leaves.get(agent)?.(), refused, turns }
}

it("agents have their turns in the order in which they came", async () => {
  const { ask, begun, leave } = setUp()
  for (const agent of [1, 2, 3, 4]) ask(agent)
  await turnsOfLoop()
  expect(begun).toStrictEqual([1, 2])
  leave(2)
  await turnsOfLoop()
  expect(begun).toStrictEqual([1, 2, 3])
  // It has no place to give any more
  leave(2)
  await turnsOfLoop()
  expect(begun).toStrictEqual([1, 2, 3])
})

it("an agent that leaves the queue is passed over", async () => {
  const { ask, begun, leave } = setUp()
  ask(1)
  ask(2)
  const gone = ask(3)
  ask(4)
  await turnsOfLoop()
  await Effect.runPromise(Fiber.interrupt(gone))
  leave(1)
  await turnsOfLoop()
  expect(begun).toStrictEqual([1, 2, 4])
})

it("an agent keeps others out for five seconds at most", async () => {
  const { ask, begun } = setUp()
  for (const agent of [1, 2, 3, 4]) ask(agent)
  await turnsOfLoop()
  vi.advanceTimersByTime(4_999)
  await turnsOfLoop()
  expect(begun).toStrictEqual([1, 2])
  vi.advanceTimersByTime(1)
  await turnsOfLoop()
  expect(begun).toStrictEqual([1, 2, 3, 4])
})

it("an agent is refused after ten seconds without a turn", async () => {
  const { ask, begun, refused } = setUp({ turns: makeTurns({ ...limits, keptFor: 60_000 }) })
  for (const agent of [1, 2, 3]) ask(agent)
  await turnsOfLoop()
  vi.advanceTimersByTime(9_999)
  await turnsOfLoop()
  expect(refused).toStrictEqual([])
  vi.advanceTimersByTime(1)
  await turnsOfLoop()
  expect(refused).toStrictEqual([[3, "Too many agents connect at the same time."]])
  expect(begun).toStrictEqual([1, 2])
})

it("an agent waits once: its older connection is refused, and the others keep their order", async () => {
  const { ask, begun, leave, refused } = setUp()
  for (const agent of [1, 2, 3, 3, 3, 4]) ask(agent)
  await turnsOfLoop()
  expect(refused).toStrictEqual([
    [3, "The agent has opened another connection."],
    [3, "The agent has opened another connection."]
  ])
  leave(1)
  await turnsOfLoop()
  leave(2)
  await turnsOfLoop()
  expect(begun).toStrictEqual([1, 2, 3, 4])
})

it("the event loop takes other work between the beginnings", async () => {
  const turns = makeTurns({ ...limits, places: 1 })
  const seen: Array<string> = []
  for (const agent of [1, 2, 3]) {
    Effect.runFork(
      Effect.map(turns.turnOf(idOf(agent)), (leave) => {
        seen.push(`${agent}`)
        setImmediate(() => seen.push("other"))
        leave()
      })
    )
  }
  await turnsOfLoop()
  expect(seen).toStrictEqual(["1", "other", "2", "other", "3", "other"])
})

it("all that wait are refused when the service ends", async () => {
  const { ask, begun, refused, turns } = setUp()
  for (const agent of [1, 2, 3]) ask(agent)
  await turnsOfLoop()
  turns.end()
  await turnsOfLoop()
  expect(begun).toStrictEqual([1, 2])
  expect(refused).toStrictEqual([[3, "The service is shutting down."]])
})
