/** A pool of prebuilt workspaces whose agents run in this process. */
import { Agent } from "@atelier/agent"
import { Effect, Fiber, Logger, LogLevel, Redacted, Schema } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, vi } from "vitest"
import { lastingToken, type TestTemplate } from "../../../../../test/outside/engine.js"
import { aConfig } from "../../../../agent/test/TestServer.js"
import type { AgentServer } from "../../agents/AgentServer.js"

/** Workspaces that are kept ready. */
export const size = 2

/** The template of the pool, whose workspaces are handed over as they run. */
export const template: TestTemplate = {
  parameters: [{ name: "size", default_value: "1" }],
  presets: [
    {
      name: "Pool",
      description: "",
      icon: "",
      default: false,
      parameters: [{ name: "size", value: "2" }],
      desired_prebuild_instances: size
    }
  ],
  hands_over: true,
  resources: [
    {
      name: "machine",
      type: "terraform_data",
      agents: [
        {
          name: "main",
          auth: { _tag: "Token", token: "{token:main}" as never },
          environment_variables: { OWNER: "{owner.name}" },
          scripts: [
            {
              display_name: "Owner",
              icon: "",
              script: 'touch "greeted-$OWNER"',
              cron: "",
              start_blocks_login: false,
              run_on_start: false,
              run_on_stop: false,
              timeout_seconds: 0,
              log_path: ""
            }
          ]
        }
      ]
    }
  ]
}

const Build = Schema.Struct({
  id: Schema.String,
  build_number: Schema.Number,
  status: Schema.String,
  initiator_name: Schema.String,
  job: Schema.Struct({ status: Schema.String }),
  resources: Schema.Array(
    Schema.Struct({
      agents: Schema.optional(Schema.Array(Schema.Struct({ id: Schema.String, status: Schema.String, lifecycle_state: Schema.String })))
    })
  )
})
export const Workspace = Schema.Struct({ id: Schema.String, name: Schema.String, owner_name: Schema.String, latest_build: Build })
const Workspaces = Schema.Struct({ workspaces: Schema.Array(Workspace) })

export const agentsOf = ({ latest_build }: typeof Workspace.Type) => latest_build.resources.flatMap(({ agents = [] }) => agents)

/** The pool of one server; `connectsTo` is where its agents connect to. */
export const aPool = (server: () => AgentServer, connectsTo: () => AgentServer = server) => {
  const folder = mkdtempSync(join(tmpdir(), "hand-overs-"))
  const agents = new Map<string, Fiber.RuntimeFiber<never>>()
  const token = () => server().owner().token

  const prebuilt = async () => (await server().call("GET", "/workspaces?q=owner:prebuilds", { token: token() })).as(Workspaces).workspaces

  return {
    agents,
    prebuilt,

    /** Runs the program of an agent for each workspace of the pool, and waits until all are ready. */
    ready: () =>
      vi.waitFor(
        async () => {
          const found = await prebuilt()
          for (const { id, latest_build } of found) {
            if (agents.has(id) || latest_build.job.status !== "succeeded") continue
            const config = aConfig(new URL(connectsTo().url), mkdtempSync(join(folder, "agent-")), {
              token: Redacted.make(lastingToken(id, "main"))
            })
            agents.set(id, Effect.runFork(Effect.provide(Agent.run(config), Logger.minimumLogLevel(LogLevel.None))))
          }
          expect(found.map(agentsOf)).toStrictEqual(
            Array.from({ length: size }, () => [expect.objectContaining({ status: "connected", lifecycle_state: "ready" })])
          )
          return found
        },
        { timeout: 60_000, interval: 100 }
      ),

    pause: (reconciliation_paused: boolean) =>
      server().call("PUT", "/prebuilds/settings", { token: token(), body: { reconciliation_paused } }),

    create: async (template_id: string, name: string, at = server()) => {
      const body = { name, template_id, rich_parameter_values: [{ name: "size", value: "2" }] }
      return (await at.call("POST", "/users/me/workspaces", { token: token(), body })).as(Workspace)
    },

    /** The output of a shell line in the workspace. */
    exec: async (workspace: typeof Workspace.Type, line: string, at = server()) => {
      const body = { program: "sh", args: ["-c", line] }
      return (await at.call("POST", `/workspaceagents/${agentsOf(workspace)[0]?.id}/exec`, { token: token(), body })).body
    },

    endAgent: (id: string) => {
      const fiber = agents.get(id)
      return fiber === undefined ? Promise.resolve() : Effect.runPromise(Effect.asVoid(Fiber.interrupt(fiber)))
    },

    close: () => {
      // An agent whose workspace is gone would try for a while to say that it ends
      for (const fiber of agents.values()) Effect.runFork(Fiber.interruptFork(fiber))
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
