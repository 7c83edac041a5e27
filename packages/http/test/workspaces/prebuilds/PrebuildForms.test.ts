import { ProvisionerEngines } from "@atelier/core/provisioning"
import { Effect, Layer, Schema } from "effect"
import { expect, it, vi } from "vitest"
import { describeServerOnEach } from "../../../../../test/http/server.js"
import { aTemplate } from "../../../../../test/http/templates.js"
import { testEngine } from "../../../../../test/outside/engine.js"

/** Evaluations for the pool that have begun. The first one never ends. */
let evaluations = 0

const slowOnce = Layer.succeed(ProvisionerEngines, [
  {
    ...testEngine,
    open: (...source) =>
      Effect.map(testEngine.open(...source), (session) => ({
        ...session,
        preview: ({ metadata }) =>
          Effect.suspend(() => {
            if (metadata.owner_username === "prebuilds") evaluations += 1
            return metadata.owner_username === "prebuilds" && evaluations === 1
              ? Effect.never
              : Effect.succeed({ diagnostics: [], parameters: [] })
          })
      }))
  }
])

const Count = Schema.Struct({ count: Schema.Number })

describeServerOnEach(
  "a pool whose template's form was once not evaluated in time",
  (server) => {
    it("is filled all the same", async () => {
      evaluations = 0
      await aTemplate(server(), {
        presets: [{ name: "Pool", description: "", icon: "", default: false, parameters: [], desired_prebuild_instances: 1 }],
        resources: [{ name: "machine", type: "terraform_data", agents: [{ name: "main" }] }]
      })
      await vi.waitFor(
        async () => {
          const found = await server().call("GET", "/workspaces?q=owner:prebuilds", { token: server().owner().token })
          expect(found.as(Count).count).toBe(1)
        },
        { timeout: 20_000, interval: 200 }
      )
      expect(evaluations).toBeGreaterThan(1)
    })
  },
  {
    entitlements: { has: () => true },
    provisioner: slowOnce,
    options: { workspacePrebuildsReconciliationInterval: "200 millis" }
  }
)
