/** Recorded conversations about workspaces and what is in them, in the dialect of existing clients, over templates of the test engine. */
import { SqlClient } from "@effect/sql"
import { type AgentMessages, Uuid as ProtocolUuid } from "@atelier/agent-protocol"
import { notificationEvents } from "@atelier/core/notifications"
import { type Engine, ProvisionerEngines, type ProvisionerSession } from "@atelier/core/provisioning"
import { Effect, Layer, Option } from "effect"
import { readFileSync } from "node:fs"
import { beforeAll, expect, it } from "vitest"
import { aTar } from "../../../../test/records/archives.js"
import { spread } from "../../../../test/store/databases.js"
import { templateFile, testEngine } from "../../../../test/outside/engine.js"
import { makePlayer } from "../../../../test/http/scenarios.js"
import type { ServerOptions } from "../../../../test/http/server.js"
import { type AgentServer, describeAgentsOn } from "../agents/AgentServer.js"

/** What keeps jobs from going on, and how many wait there. */
interface Gate {
  readonly latch: Effect.Latch
  waiting: number
}

/** The test engine, whose jobs wait before planning and applying while the gate is closed, and cannot be interrupted there. */
const heldEngines = (gate: Gate) =>
  Layer.succeed(ProvisionerEngines, [
    {
      ...testEngine,
      open: (source, log) =>
        Effect.map(testEngine.open(source, log), (session) => {
          const waiting = Effect.acquireUseRelease(
            Effect.sync(() => gate.waiting++),
            () => gate.latch.await,
            () => Effect.sync(() => gate.waiting--)
          )
          const held = <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.zipRight(Effect.uninterruptible(waiting), step)
          return {
            // Requests read a template's tags too
            ...session,
            plan: (input) => held(session.plan(input)),
            apply: (input) => held(session.apply(input))
          } satisfies ProvisionerSession
        })
    } satisfies Engine
  ])

const eventNames: ReadonlyMap<string, string> = new Map(Object.values(notificationEvents).map(({ id, name }) => [id, name]))

/**
 * Milliseconds until a minute past noon: schedules of the conversations begin in the morning, and a deadline may follow the next start; and
 * the present is no full hour.
 */
const untilNoon = (): number => {
  const [now, day, noon] = [Date.now(), 86_400_000, 43_260_000]
  return (((noon - now) % day) + day) % day
}

/**
 * Conversations of a folder, each played by the server of one database, with all features, over the templates of `templates`. `hooks` are what the
 * receiver of the server's webhooks got.
 */
export const describeScenarios = (
  folder: URL,
  names: ReadonlyArray<string>,
  options: ServerOptions = {},
  {
    hooks,
    isNoon = true,
    templates = new URL("scenarios/templates/", import.meta.url)
  }: {
    readonly hooks?: Array<unknown>
    readonly isNoon?: boolean
    readonly templates?: URL
  } = {}
): void => {
  const gate: Gate = { latch: Effect.unsafeMakeLatch(true), waiting: 0 }
  const define =
    (own: ReadonlyArray<string>) =>
    (server: () => AgentServer): void => {
      let play: Awaited<ReturnType<typeof makePlayer>>

      /** Whether the store has an agent as connected. */
      const isConnected = (id: Uint8Array): Promise<boolean> =>
        server().store(
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            Effect.map(
              sql`SELECT id FROM workspace_agents WHERE id = ${Option.getOrThrow(ProtocolUuid.fromBytes(id))}
                AND last_connected_at IS NOT NULL AND (disconnected_at IS NULL OR disconnected_at < last_connected_at)`,
              (rows) => rows.length > 0
            )
          )
        )

      /** Whether each message of the queue has an end. */
      const isQuiet = (): Promise<boolean> =>
        server().store(
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            Effect.map(sql`SELECT id FROM notification_messages WHERE status IN ('pending', 'leased')`, (rows) => rows.length === 0)
          )
        )

      /** Says as the agent's program that the agent is in a state. Its connection is noted, and its end too, before the next step. */
      const report = async (token: string, lifecycle: string): Promise<void> => {
        const { agent, close } = await server().connect(token)
        const { agent_id } = await Effect.runPromise(agent.GetManifest({}))
        const state = lifecycle.toUpperCase() as AgentMessages.LifecycleState
        await Effect.runPromise(Effect.asVoid(agent.UpdateLifecycle({ lifecycle: { state } })))
        await expect.poll(() => isConnected(agent_id)).toBe(true)
        await close()
        await expect.poll(() => isConnected(agent_id)).toBe(false)
      }

      beforeAll(async () => {
        // Daemons that are not heard between now and noon are offline then
        const ahead = isNoon ? untilNoon() : 0
        server().advance(ahead)
        if (hooks !== undefined) hooks.length = 0
        play = await makePlayer({
          url: server().url,
          enter: server().aPerson,
          now: () => Date.now() + ahead,
          header: "Coder-Session-Token",
          source: (template) =>
            aTar(
              typeof template === "string" ? { [templateFile]: readFileSync(new URL(`${template}.json`, templates), "utf8") } : template
            ),
          report,
          hold: (isHeld) => void (isHeld ? gate.latch.unsafeClose() : gate.latch.unsafeOpen()),
          held: () => expect.poll(() => gate.waiting).toBeGreaterThan(0),
          told: (text) =>
            server().store(
              Effect.flatMap(SqlClient.SqlClient, (sql) =>
                Effect.map(
                  sql<{ readonly template_id: string }>`SELECT template_id FROM notification_messages
                    WHERE method = 'inbox' AND CAST(payload AS TEXT) LIKE ${`%${text}%`} ORDER BY created_at, id`,
                  (rows) => rows.map(({ template_id }) => eventNames.get(template_id) ?? template_id)
                )
              )
            ),
          ...(hooks === undefined ? {} : { hooks }),
          quiet: () => expect.poll(isQuiet).toBe(true),
          change: (table, id, fields) =>
            server().store(
              Effect.asVoid(
                Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE ${sql(table)} SET ${sql.update(fields)} WHERE id = ${id}`)
              )
            ),
          insert: (table, row) =>
            server().store(Effect.asVoid(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`INSERT INTO ${sql(table)} ${sql.insert(row)}`)))
        })
      })

      for (const name of own) {
        it(name, async () => {
          expect((await play(new URL(name, folder))).join("\n")).toBe("")
        })
      }
    }
  for (const [database, own] of spread(names)) {
    describeAgentsOn([database], "the recorded conversation", define(own), {
      empty: true,
      compatibility: "coder",
      entitlements: { has: () => true },
      provisioner: heldEngines(gate),
      ...options
    })
  }
}
