import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { EventBus } from "@atelier/core/platform"
import { type AtelierEvent } from "@atelier/http"
import { Effect } from "effect"
import { testEngines } from "../../../../test/outside/engine.js"
import { databases } from "../../../../test/store/databases.js"
import { startServer, type TestServer } from "../../../../test/http/server.js"
import { aTemplate } from "../../../../test/http/templates.js"
import { aWorkspace } from "../../../../test/http/workspaceCalls.js"
import { makeHostEvents, tellBuilds } from "../../src/assembly/hostEvents.js"

const numbered = (number: number): AtelierEvent => ({
  type: "build",
  build_id: "b",
  build_number: number,
  workspace_id: "w",
  workspace_name: "first",
  owner_id: "o",
  transition: "start",
  status: "running"
})

describe.each(databases)("what a program without Effect hears of its service on %s", (_, storage) => {
  let server: TestServer
  beforeAll(async () => void (server = await startServer(storage, { provisioner: testEngines })))
  afterAll(() => server.close())

  it("are the builds that end and the entries of the audit log, until the service ends", async () => {
    const template = await aTemplate(server, {})
    const events = server.atelier.events()
    const { id } = await aWorkspace(server, template, server.owner(), {})
    const heard: Array<AtelierEvent> = []
    for await (const event of events) {
      heard.push(event)
      if (event.type === "build") break
    }
    expect(heard).toContainEqual({
      type: "audit",
      entry: expect.objectContaining({ action: "create", resource_type: "workspace", resource_id: id })
    })
    expect(heard.at(-1)).toMatchObject({ type: "build", workspace_id: id, build_number: 1, transition: "start", status: "running" })
    expect(await events.next()).toStrictEqual({ done: true, value: undefined })
  })

  it("go on after a failure, which counts as a loss", async () => {
    const { listen, tell } = makeHostEvents()
    const events = listen()
    let attempts = 0
    const bus = EventBus.of({
      isShared: false,
      publish: () => Effect.void,
      listen: (_channel, listener) =>
        Effect.suspend(() => {
          attempts += 1
          return attempts === 1 ? Effect.dieMessage("not now") : Effect.sync(() => listener({ _tag: "Lost" }))
        })
    })
    const program = Effect.zipRight(
      Effect.provideService(tellBuilds(tell), EventBus, bus),
      Effect.promise(async () => [await events.next(), await events.next()])
    )
    const lost = { done: false, value: { type: "lost" } }
    expect(await server.atelier.runtime.runPromise(Effect.scoped(program))).toStrictEqual([lost, lost])
    expect(attempts).toBe(2)
  })
})

it("a service that ends ends the iteration, after what was not read", async () => {
  const { end, listen, tell } = makeHostEvents()
  const events = listen()
  const waiting = events.next()
  tell(numbered(1))
  tell(numbered(2))
  end()
  expect(await waiting).toMatchObject({ value: { build_number: 1 } })
  expect(await events.next()).toMatchObject({ value: { build_number: 2 } })
  expect(await events.next()).toStrictEqual({ done: true, value: undefined })
  expect(await listen().next()).toStrictEqual({ done: true, value: undefined })
})

it("a program that falls behind hears of one loss, and then goes on", async () => {
  const { listen, tell } = makeHostEvents()
  const events = listen()
  for (let number = 0; number < 1_005; number++) tell(numbered(number))
  expect(await events.next()).toMatchObject({ value: { type: "lost" } })
  expect(await events.next()).toMatchObject({ value: { build_number: 1_001 } })
})

it("a signal ends one iteration with its reason, and no other one", async () => {
  const { listen, tell } = makeHostEvents()
  const controller = new AbortController()
  const events = listen({ signal: controller.signal })
  const other = listen()
  const waiting = events.next()
  controller.abort(new Error("the host ends"))
  await expect(waiting).rejects.toThrow("the host ends")
  tell(numbered(1))
  expect(await other.next()).toMatchObject({ value: { build_number: 1 } })
  await expect(listen({ signal: controller.signal }).next()).rejects.toThrow("the host ends")
})

it("a signal that comes after the end of an iteration changes nothing", async () => {
  const { listen } = makeHostEvents()
  const controller = new AbortController()
  const events = listen({ signal: controller.signal })
  await events.return?.()
  controller.abort(new Error("too late"))
  expect(await events.next()).toStrictEqual({ done: true, value: undefined })
})
