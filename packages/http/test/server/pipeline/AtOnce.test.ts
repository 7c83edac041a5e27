/** Handlers that answer requests without an effect where they can. */
import { expect, it } from "@effect/vitest"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { Authenticated } from "../../../src/contract/authentication.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { commonRefusals } from "../../../src/wire/errors.js"
import { Path } from "../../../src/wire/input.js"
import { createServer } from "node:http"
import { listen, listening, memberId, memberToken, request, serve } from "../../TestServer.js"

const thing = Path({ thing: Uuid.Uuid })
const answer = Schema.Struct({ from: Schema.String, caller: Schema.NullOr(Schema.String) })

const things = HttpApiGroup.make("things")
  .add(HttpApiEndpoint.get("own", "/api/v2/things/:thing").setPath(thing).addSuccess(answer).middleware(Authenticated))
  .add(HttpApiEndpoint.get("open", "/api/v2/open").addSuccess(answer))
  .add(HttpApiEndpoint.get("faulty", "/api/v2/faulty").addSuccess(answer))

class Api extends HttpApi.make("at-once").add(things).addError(commonRefusals) {}

const [known, unknown] = ["018f0000-0000-7000-8000-00000000000a", "018f0000-0000-7000-8000-00000000000b"]

const byEffect = Effect.succeed({ from: "an effect", caller: null })

const handlers = Handlers.group(things, (group) =>
  group
    .handle(
      "own",
      Handlers.atOnce(
        ({ path }, actor) => (path.thing === known ? { from: "no effect", caller: actor?.userId ?? null } : undefined),
        () => byEffect
      )
    )
    .handle("open", Handlers.constant({ from: "no effect", caller: null }))
    .handle(
      "faulty",
      Handlers.atOnce(
        () => {
          throw new Error("a defect")
        },
        () => byEffect
      )
    )
)

it.scopedLive("a handler that can answer at once does, and leaves the other requests to its effect", () =>
  Effect.gen(function* () {
    const { url } = yield* serve(Api, handlers)
    const get = (path: string, headers: Record<string, string> = { "service-session-token": memberToken }) =>
      Effect.map(request(`${url}/api/v2/${path}`, { headers }), ({ json, status }) => [status, json()])
    // The first request loads the handlers
    expect(yield* get("open", {})).toMatchObject([200, {}])
    expect(yield* get(`things/${known}`)).toStrictEqual([200, { from: "no effect", caller: memberId }])
    expect(yield* get(`things/${unknown}`)).toStrictEqual([200, { from: "an effect", caller: null }])
    expect(yield* get("open", {})).toStrictEqual([200, { from: "no effect", caller: null }])
    expect(yield* get(`things/${known}`, {})).toMatchObject([401, {}])
    expect(yield* get("things/none")).toMatchObject([400, {}])
    expect(yield* get("faulty")).toMatchObject([500, { message: "An internal error occurred." }])
  })
)

it.scopedLive("a response whose head a host refuses is answered with 500, and throws nothing at the host", () =>
  Effect.gen(function* () {
    const { handler } = yield* listen(Api, handlers)
    const thrown: Array<unknown> = []
    const server = createServer((incoming, response) => {
      const writeHead = response.writeHead.bind(response)
      // The first head alone
      response.writeHead = () => {
        response.writeHead = writeHead
        throw new Error("refused by the host")
      }
      try {
        handler(incoming, response)
      } catch (error) {
        thrown.push(error)
        response.destroy()
      }
    })
    const { url } = yield* listening(server)
    const { status } = yield* request(`${url}/api/v2/open`)
    expect([status, (yield* request(`${url}/api/v2/open`)).status, thrown]).toStrictEqual([500, 500, []])
  })
)
