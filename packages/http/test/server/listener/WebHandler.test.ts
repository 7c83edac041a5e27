import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Context, Effect, Runtime, Stream } from "effect"
import { expect, it, vi } from "vitest"
import { make } from "../../../src/server/listener/WebHandler.js"

it.each([204, 304])("an answer with the status %i has no body, also one that is passed on as a stream", async (status) => {
  const application = Effect.succeed(HttpServerResponse.stream(Stream.empty, { status }))
  const end = vi.fn()
  const answer = await make(application, Runtime.defaultRuntime)(new Request("http://atelier.test/"), Context.empty(), end)
  expect([answer.status, answer.body]).toStrictEqual([status, null])
  expect(end).toHaveBeenCalledOnce()
})
