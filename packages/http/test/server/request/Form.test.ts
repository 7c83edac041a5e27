import express from "express"
import { Effect } from "effect"
import { createServer } from "node:http"
import { describe, expect, it } from "vitest"
import { NodeRequest } from "../../../src/server/connection/NodeRequest.js"
import { readForm } from "../../../src/server/request/form.js"
import { listening } from "../../TestServer.js"

describe("a form", () => {
  const read = (parser: express.RequestHandler | undefined) =>
    Effect.gen(function* () {
      const app = express()
      if (parser !== undefined) app.use(parser)
      app.post("/", async (incoming, outgoing) => {
        const form = await Effect.runPromise(readForm(new NodeRequest(incoming, outgoing)))
        outgoing.json([form.get("grant_type"), form.get("code"), form.all("resource"), form.repeated(["resource", "code"])])
      })
      const { url } = yield* listening(createServer(app))
      const body = new URLSearchParams([
        ["state[toString]", "a name that a parser makes a member of"],
        ["grant_type", "authorization_code"],
        ["code", "a+b&c=d é"],
        ["resource", "one"],
        ["resource", "two"]
      ])
      return yield* Effect.promise(async () => (await fetch(url, { method: "POST", body })).json())
    }).pipe(Effect.scoped, Effect.runPromise)

  it.each([
    ["no parser", undefined],
    ["a simple parser", express.urlencoded({ extended: false })],
    ["an extended parser", express.urlencoded({ extended: true })]
  ])("has the same fields behind %s of the host", async (_, parser) => {
    expect(await read(parser)).toEqual(["authorization_code", "a+b&c=d é", ["one", "two"], ["resource"]])
  })
})
