/** Waits for Pods of a cluster that does not do its part. A server of this test answers: a real one does so only with a broken node or a stuck finalizer. */
import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, TestClock } from "effect"
import { makePodWatch } from "../src/cluster/PodWatch.js"
import { settingsOf } from "../src/Settings.js"
import { waits } from "../src/workspaces/Waits.js"
import { answeringCluster } from "./answeringCluster.js"

const pod = { metadata: { name: "pod", uid: "uid", resourceVersion: "1" }, spec: {}, status: {} }

/** A cluster whose one Pod never ends. Counts what it is asked for. */
const aStuckCluster = Effect.gen(function* () {
  const asked = { reads: 0, deletes: [] as Array<string> }
  const { api, resources } = yield* answeringCluster((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://cluster")
    response.setHeader("content-type", "application/json")
    if (searchParams.has("watch")) return response.flushHeaders()
    if (request.method === "DELETE") {
      let text = ""
      request.on("data", (part: Buffer) => void (text += part.toString()))
      request.on("end", () => asked.deletes.push(text))
    }
    if (!pathname.endsWith("/pod")) return response.end(JSON.stringify({ metadata: { resourceVersion: "1" }, items: [] }))
    if (request.method === "GET") asked.reads += 1
    return response.end(JSON.stringify(pod))
  })
  const watch = yield* makePodWatch({ api, resources, namespace: "default", labels: {} })
  return { asked, ...waits({ api, resources, watch, settings: settingsOf({ stopGrace: "10 seconds" }, "default") }) }
})

it.scoped("a Pod that stays although the cluster was told to forget it ends the wait", () =>
  Effect.gen(function* () {
    const { asked, untilGone } = yield* aStuckCluster
    const told: Array<string> = []
    const waiting = yield* Effect.fork(untilGone("pod", "uid", (line) => Effect.sync(() => void told.push(line))))
    /** Lets the server answer, whose time is not the test's. */
    const answered = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    let seconds = 0
    for (let exit = yield* Fiber.poll(waiting); Option.isNone(exit); exit = yield* Fiber.poll(waiting)) {
      const before = asked.reads
      yield* TestClock.adjust("1 second")
      seconds += 1
      expect(seconds).toBeLessThan(180)
      for (let turns = 0; turns < 200 && asked.reads === before; turns++) yield* answered
      yield* Effect.repeatN(answered, 20)
    }
    const exit = yield* Fiber.await(waiting)
    expect(Exit.isFailure(exit) && String(exit.cause)).toContain("does not end")
    expect(asked.deletes).toStrictEqual([expect.stringContaining('"gracePeriodSeconds":0')])
    expect(told).toStrictEqual(["The node of the Pod pod does not answer: the cluster forgets the Pod."])
    expect(seconds).toBeGreaterThan(90)
  })
)
