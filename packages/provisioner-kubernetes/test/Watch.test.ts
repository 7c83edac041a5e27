/** What the client does when an API server forgets, is busy or goes away. A server of this test answers: a real one does so only after hours or under load. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream, TestClock } from "effect"
import type { ServerResponse } from "node:http"
import { Any } from "../src/cluster/Objects.js"
import { type Change, watch } from "../src/cluster/Watch.js"
import { answeringCluster } from "./answeringCluster.js"

/** Answers a request, which is `list` or `watch` with the version that it goes on from. */
type Answer = (response: ServerResponse) => void

const aPod = (name: string, resourceVersion: string) => ({ metadata: { name, uid: name, resourceVersion } })

const sends =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end(JSON.stringify(body))

const lists = (resourceVersion: string, ...names: ReadonlyArray<string>) =>
  sends(200, { metadata: { resourceVersion }, items: names.map((name) => aPod(name, resourceVersion)) })

/** Answers with the lines of a watch, which ends unless it is to stay. */
const tells =
  (lines: ReadonlyArray<unknown>, stays = false): Answer =>
  (response) => {
    for (const line of lines) response.write(`${JSON.stringify(line)}\n`)
    if (!stays) response.end()
    else response.flushHeaders()
  }

/** A client of a server that gives these answers one after the other, and the requests that it gets. */
const aClient = (answers: ReadonlyArray<Answer>) =>
  Effect.gen(function* () {
    const requests: Array<string> = []
    const rest = [...answers]
    const { api, resources } = yield* answeringCluster((request, response) => {
      const { searchParams } = new URL(request.url ?? "", "http://cluster")
      requests.push(searchParams.has("watch") ? `watch ${searchParams.get("resourceVersion")}` : "list")
      const answer = rest.shift()
      if (answer === undefined) request.destroy()
      else answer(response)
    })
    return { api, resources, requests }
  })

const told = (change: Change<Any>): string =>
  change._tag === "Present" || change._tag === "Gone" ? `${change._tag} ${change.object.metadata.name}` : change._tag

const expired = { kind: "Status", status: "Failure", reason: "Expired", message: "too old resource version: 11 (42)", code: 410 }

const busy = (seconds: string) => sends(429, { message: "too many requests", reason: "TooManyRequests" }, { "retry-after": seconds })

describe("a watch", () => {
  it.scopedLive("goes on where it was, and lists again when the cluster has forgotten that", () =>
    Effect.gen(function* () {
      const { api, requests, resources } = yield* aClient([
        lists("10", "a", "b"),
        tells([
          { type: "MODIFIED", object: aPod("a", "11") },
          { type: "ERROR", object: expired }
        ]),
        lists("20", "b"),
        tells([
          { type: "ADDED", object: aPod("c", "21") },
          { type: "BOOKMARK", object: { metadata: { resourceVersion: "25" } } }
        ]),
        sends(410, expired),
        lists("30", "c"),
        tells([{ type: "DELETED", object: aPod("c", "31") }], true)
      ])
      const changes = watch(api, resources, { kind: "pods", schema: Any, namespace: "dev" })
      const all = yield* Stream.runCollect(Stream.take(Stream.map(changes, told), 13)).pipe(Effect.timeout("1 minute"))
      expect([...all].join(", ").split(/(?<=Listed), |, (?=Listing)/)).toStrictEqual([
        "Listing, Present a, Present b, Listed",
        "Present a",
        "Listing, Present b, Listed",
        "Present c",
        "Listing, Present c, Listed",
        "Gone c"
      ])
      expect(requests).toStrictEqual(["list", "watch 10", "list", "watch 20", "watch 25", "list", "watch 30"])
    })
  )

  it.scopedLive("waits as long as a busy cluster asks, and goes on after a lost connection", () =>
    Effect.gen(function* () {
      const { api, requests, resources } = yield* aClient([
        busy("0"),
        lists("10", "a"),
        busy("0"),
        (response) => response.destroy(),
        sends(500, { message: "the store is away" }),
        tells([{ type: "DELETED", object: aPod("a", "11") }], true)
      ])
      const changes = watch(api, resources, { kind: "pods", schema: Any, namespace: "dev" })
      const all = yield* Stream.runCollect(Stream.take(Stream.map(changes, told), 4)).pipe(Effect.timeout("1 minute"))
      expect([...all]).toStrictEqual(["Listing", "Present a", "Listed", "Gone a"])
      expect(requests).toStrictEqual(["list", "list", "watch 10", "watch 10", "watch 10", "watch 10"])
    })
  )
})

it.scoped("a call that nothing interrupts ends within its bound", () =>
  Effect.gen(function* () {
    const { resources } = yield* aClient([() => {}])
    const asking = yield* Effect.fork(Effect.uninterruptible(Effect.flip(resources.list("pods", Any, "dev", {}))))
    yield* TestClock.adjust("31 seconds")
    expect((yield* Fiber.join(asking)).message).toMatch(/no answer within 30 seconds$/)
  })
)
