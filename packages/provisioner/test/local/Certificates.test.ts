import { describe, expect, it } from "@effect/vitest"
import { ProvisionerEngines } from "@atelier/core/provisioning"
import { Context, Deferred, Effect, Layer, type Scope } from "effect"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import { createServer, type Server } from "node:https"
import { join, relative } from "node:path"
import { pairOf } from "../../../../test/outside/certificates.js"
import { LocalProvisioner } from "../../src/index.js"
import { aFolder } from "../agents.js"
import { aLog, aPlanInput, aTemplate } from "../builders.js"

/** Variables of this process, until the scope closes. */
const inEnvironment = (variables: Readonly<Record<string, string>>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const former = Object.keys(variables).map((name) => [name, process.env[name]] as const)
      Object.assign(process.env, variables)
      return former
    }),
    (former) =>
      Effect.sync(() => {
        for (const [name, value] of former) {
          if (value === undefined) delete process.env[name]
          else process.env[name] = value
        }
      })
  ).pipe(Effect.asVoid)

/** An agent that tells what it was given of its environment, over HTTPS, and lives on. */
const teller = `fetch(process.env.SERVICE_AGENT_URL, { method: "POST", body: JSON.stringify(process.env) }).then(() => setInterval(() => {}, 1000))`

describe("an agent of a server whose certificate is of a private authority", () => {
  it.scopedLive("trusts the file of the server's NODE_EXTRA_CA_CERTS, and gets nothing else of its environment", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const authority = yield* Effect.promise(() => pairOf("authority"))
      const pair = yield* Effect.promise(() => pairOf("127.0.0.1", authority))
      const file = join(folder, "authority.pem")
      yield* Effect.promise(() => fs.writeFile(file, authority.cert))
      // Agents start in other folders than the server
      yield* inEnvironment({ NODE_EXTRA_CA_CERTS: relative(process.cwd(), file), SECRET_OF_SERVER: "secret", HTTPS_PROXY: "http://a:b@c" })

      const told = yield* Deferred.make<Record<string, string>, Error>()
      const server = yield* Effect.acquireRelease(
        Effect.promise(async (): Promise<Server> => {
          const server = createServer({ cert: pair.cert, key: pair.key }, (request, response) => {
            let body = ""
            request.on("data", (piece) => (body += String(piece)))
            request.on("end", () => {
              response.end()
              Deferred.unsafeDone(told, Effect.succeed(JSON.parse(body)))
            })
          })
          server.on("tlsClientError", (error) => Deferred.unsafeDone(told, Effect.fail(error)))
          server.listen(0, "127.0.0.1")
          await once(server, "listening")
          return server
        }),
        (server) => Effect.sync(() => (server.close(), server.closeAllConnections()))
      )
      const address = server.address()
      const url = typeof address === "object" && address !== null ? `https://127.0.0.1:${address.port}/` : ""

      const context = yield* Layer.build(
        LocalProvisioner.layer({ directory: join(folder, "workspaces"), agent: { command: [process.execPath, "-e", teller] } })
      )
      const [engine] = Context.get(context, ProvisionerEngines)
      if (engine === undefined) return yield* Effect.dieMessage("the layer adds no engine")
      const apply = (transition: "start" | "stop") =>
        Effect.gen(function* () {
          const session = yield* engine.open(yield* aTemplate("agents: [{name: main}]"), aLog().sink)
          const input = aPlanInput({ metadata: { access_url: url, transition } })
          yield* session.plan(input)
          return yield* session.apply(input)
        }).pipe(Effect.scoped)
      yield* Effect.addFinalizer(() => Effect.ignore(apply("stop")))
      yield* apply("start")

      const environment = yield* Deferred.await(told)
      expect(environment["NODE_EXTRA_CA_CERTS"]).toBe(file)
      expect(Object.keys(environment).filter((name) => /SECRET|PROXY/.test(name))).toEqual([])
    })
  )
})
