/** What becomes of the connection of an agent whose workspace is handed over. The agent is the test. */
import { AgentMessages, type ByteStream, ReverseStream, TokenOffer } from "@atelier/agent-protocol"
import { Deferred, Effect, Exit, Fiber, Option, Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { aTemplate } from "../../../../../test/http/templates.js"
import { lastingToken, testEngines } from "../../../../../test/outside/engine.js"
import { type AgentConnection, describeAgentsOnEach } from "../../agents/AgentServer.js"
import { agentsOf, aPool, size, template, Workspace } from "./pool.js"

describeAgentsOnEach(
  "the connection of an agent that is handed over",
  (server) => {
    let templateId: string
    const pool = aPool(server)
    const connections = new Map<string, AgentConnection>()
    const scope = Effect.runSync(Scope.make())
    const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> => Effect.runPromise(Scope.extend(effect, scope))
    const token = () => server().owner().token

    /** Connects an agent for each workspace of the pool. */
    const ready = () =>
      vi.waitFor(
        async () => {
          const found = await pool.prebuilt()
          for (const { id, latest_build } of found) {
            if (connections.has(id) || latest_build.job.status !== "succeeded") continue
            const connection = await server().connect(lastingToken(id, "main"), "?version=2.8&role=agent&streams=3&tokens=2")
            connections.set(id, connection)
            for (const state of ["STARTING", "READY"] as const) {
              await run(connection.agent.UpdateLifecycle({ lifecycle: { state, changed_at: { seconds: 1_800_000_000 } } }))
            }
          }
          expect(found.flatMap(agentsOf).filter(({ lifecycle_state }) => lifecycle_state === "ready")).toHaveLength(size)
        },
        { timeout: 60_000, interval: 100 }
      )

    const accepted = (connection: AgentConnection) => Effect.flatMap(connection.session.accept, ReverseStream.requested)

    /** The first agent that is offered a token, which it takes. It works with the manifest once `adopt` has ended. */
    const offered = async (adopt: Effect.Effect<void, string>) => {
      const taking = Array.from(connections, ([id, connection]) =>
        Effect.map(accepted(connection), ([request, stream]) => ({ id, connection, kind: request.kind, stream }))
      )
      const { connection, id, kind, stream } = await run(Effect.raceAll(taking))
      expect(kind).toBe("token")
      await run(ReverseStream.reached(stream))
      connections.delete(id)
      const manifest = Effect.runSync(Deferred.make<AgentMessages.Manifest, unknown>())
      const take = TokenOffer.take(stream, {
        keep: () => Effect.void,
        use: () => Effect.dieMessage("the agent is asked to connect again"),
        adopt: (_, bytes) => Effect.zipRight(Effect.intoDeferred(AgentMessages.Manifest.decode(bytes), manifest), adopt)
      })
      Effect.runFork(Effect.onError(take, () => stream.reset))
      return { connection, id, manifest: await run(Deferred.await(manifest)) }
    }

    beforeAll(async () => {
      templateId = (await aTemplate(server(), template)).id
      await pool.pause(true)
      await pool.pause(false)
      await ready()
      await pool.pause(true)
    })
    afterAll(async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      pool.close()
    })

    it("is the new owner's, after all that was begun on it before has ended", async () => {
      const before = new Map<
        AgentConnection,
        { readonly pty: ByteStream; readonly call: Fiber.RuntimeFiber<Exit.Exit<unknown, unknown>> }
      >()
      for (const [id, connection] of connections) {
        const [agent] = (await pool.prebuilt()).filter((one) => one.id === id).flatMap(agentsOf)
        server().socket(`/workspaceagents/${agent?.id}/pty?reconnect=${randomUUID()}`, token())
        const [request, pty] = await run(accepted(connection))
        expect(request.kind).toBe("pty")
        await run(ReverseStream.reached(pty))
        const call = Effect.runFork(Effect.exit(Stream.runDrain(connection.tailnet.StreamDERPMaps({}))))
        before.set(connection, { pty, call })
      }

      const isAdopted = Effect.runSync(Deferred.make<void>())
      const creating = pool.create(templateId, "mine")
      const { connection, id, manifest } = await offered(Deferred.await(isAdopted))
      expect(manifest).toMatchObject({ owner_username: "owner", workspace_name: "mine" })
      const begun = before.get(connection)
      if (begun === undefined) throw new Error("the connection is not known")
      expect(Exit.isFailure(await run(Effect.exit(begun.pty.whenBroken)))).toBe(true)
      expect(Exit.isFailure(await run(Fiber.join(begun.call)))).toBe(true)
      expect(await run(connection.agent.GetManifest({}))).toMatchObject({ owner_username: "owner" })

      // A stream of the new owner waits until the agent works with the manifest
      const next = Effect.runFork(Scope.extend(accepted(connection), scope))
      // The service asks an agent that has just connected again for a while: the command ends with the server
      pool.exec((await server().call("GET", `/workspaces/${id}`, { token: token() })).as(Workspace), "true").catch(() => undefined)
      for (const _ of [1, 2, 3]) {
        await server().call("GET", `/workspaces/${id}`, { token: token() })
        await run(connection.session.ping)
      }
      expect(Option.isNone(await run(Fiber.poll(next)))).toBe(true)
      await run(Deferred.succeed(isAdopted, undefined))
      const [request, machine] = await run(Fiber.join(next))
      expect(request.kind).toBe("machine")
      await run(ReverseStream.unreachable(machine, "not part of the test"))

      expect((await creating).latest_build).toMatchObject({ build_number: 2, status: "running" })
      // The change of the rights ends what has the old token, and not this connection
      expect((await server().call("GET", "/workspaceagents/me/gitsshkey", { token: lastingToken(id, "main") })).status).toBe(401)
      expect(await run(connection.agent.GetManifest({}))).toMatchObject({ owner_username: "owner" })
    })

    it("is closed where the agent does not work with the manifest", async () => {
      const creating = pool.create(templateId, "another")
      const { connection } = await offered(Effect.fail("not part of the test"))
      expect(await connection.closed).toMatchObject({ message: expect.stringContaining("1008") })
      expect((await creating).latest_build).toMatchObject({ build_number: 2, status: "running" })
    })
  },
  {
    entitlements: { has: () => true },
    provisioner: testEngines,
    options: { workspacePrebuildsReconciliationInterval: "1 hour" }
  }
)
