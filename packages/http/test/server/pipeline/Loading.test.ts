import { describe, expect, it } from "@effect/vitest"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Deferred, Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { commonRefusals } from "../../../src/wire/errors.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { CurrentRequest } from "../../../src/server/request/CurrentRequest.js"
import { request, serve } from "../../TestServer.js"

const things = HttpApiGroup.make("things").add(HttpApiEndpoint.get("read", "/api/v2/things").addSuccess(Schema.String))

class Api extends HttpApi.make("loading").add(things).addError(commonRefusals) {}

const handlers = Handlers.group(things, (handlers) => handlers.handle("read", () => Effect.succeed("read")))

describe("a group of endpoints", () => {
  it.scopedLive("is implemented once, for requests that arrive meanwhile and later", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      let builds = 0
      const { url } = yield* serve(
        Api,
        Effect.gen(function* () {
          builds += 1
          yield* Deferred.succeed(begun, undefined)
          yield* Deferred.await(gate)
          return yield* handlers
        })
      )
      const read = request(`${url}/api/v2/things`)
      const early = yield* Effect.fork(Effect.all([read, read], { concurrency: "unbounded" }))
      yield* Deferred.await(begun)
      yield* Deferred.succeed(gate, undefined)
      const answers = [...(yield* early), yield* read]
      expect(answers.map(({ json, status }) => [status, json()])).toStrictEqual(Array.from({ length: 3 }, () => [200, "read"]))
      expect(builds).toBe(1)
    })
  )

  it.scopedLive("is implemented although the client of the first request has left", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const { url } = yield* serve(
        Api,
        Effect.gen(function* () {
          yield* Deferred.succeed(begun, undefined)
          yield* Deferred.await(gate)
          return yield* handlers
        })
      )
      const leaving = new AbortController()
      const first = fetch(`${url}/api/v2/things`, { signal: leaving.signal }).catch(() => "left")
      yield* Deferred.await(begun)
      leaving.abort()
      expect(yield* Effect.promise(() => first)).toBe("left")
      yield* Deferred.succeed(gate, undefined)
      expect((yield* request(`${url}/api/v2/things`)).status).toBe(200)
    })
  )

  it.scopedLive("is implemented by a later request after the first one has failed to", () =>
    Effect.gen(function* () {
      let attempts = 0
      const { url } = yield* serve(
        Api,
        Effect.suspend(() => (++attempts === 1 ? Effect.die(new Error("too many open files")) : handlers))
      )
      const read = Effect.map(request(`${url}/api/v2/things`), ({ status }) => status)
      expect([yield* read, yield* read, yield* read, attempts]).toStrictEqual([500, 200, 200, 2])
    })
  )

  it.scopedLive("is refused for now while files are short", () =>
    Effect.gen(function* () {
      let attempts = 0
      const load = async () => {
        if (++attempts === 1) throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" })
      }
      const { url } = yield* serve(Api, handlers, { load })
      const { headers, json, status } = yield* request(`${url}/api/v2/things`)
      expect([status, headers.get("retry-after"), json()]).toStrictEqual([503, "5", { message: "The service has too many open files." }])
      expect((yield* request(`${url}/api/v2/things`)).status).toBe(200)
    })
  )

  it.scopedLive("is not loaded while the process can open few more files", () =>
    Effect.gen(function* () {
      const module = fileURLToPath(new URL("../../../dist/server/pipeline/requireFiles.js", import.meta.url))
      const program = `import { requireFiles } from ${JSON.stringify(module)}
        const codeOf = (count) => { try { return requireFiles(count) } catch ({ code }) { return code } }
        process.stdout.write([64, 8, 64, 8].map((count) => String(codeOf(count))).join(" ") + "\\n")`
      const words = ["-c", 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, program]
      const { stdout } = yield* Effect.promise(() => promisify(execFile)("sh", words))
      expect(stdout).toBe("EMFILE undefined EMFILE undefined\n")
    })
  )

  it.scopedLive("has none of the services of the first request", () =>
    Effect.gen(function* () {
      let seen: unknown
      const { url } = yield* serve(
        Api,
        Effect.gen(function* () {
          seen = yield* Effect.serviceOption(CurrentRequest)
          return yield* handlers
        })
      )
      yield* request(`${url}/api/v2/things`)
      expect(seen).toStrictEqual(yield* Effect.serviceOption(CurrentRequest))
    })
  )
})
