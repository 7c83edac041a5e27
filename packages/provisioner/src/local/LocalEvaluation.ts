import type { Ids, Uuid } from "@atelier/core/platform"
import type { PlanInput, ProvisionFailure } from "@atelier/core/provisioning"
import { Effect, Either } from "effect"
import { createServer } from "node:net"
import type { Platform } from "../template/AgentEvaluation.js"
import { evaluationFailure, type PlacedEvaluation } from "../session/TemplateEngine.js"
import { evaluate } from "../template/Evaluation.js"
import type { Template } from "../template/TemplateSource.js"
import type { LocalWorkspaces } from "./LocalWorkspaces.js"

/** Type of the one resource a template makes. */
export const resourceType = "local_directory"

const systems: Readonly<Record<string, string>> = { linux: "linux", darwin: "darwin" }
const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", arm: "armv7" }
const platform: Platform = { os: systems[process.platform] ?? process.platform, arch: architectures[process.arch] ?? process.arch }

/** A port of the loopback interface that nothing listens on now. */
const freePort: Effect.Effect<number> = Effect.async((resume) => {
  const server = createServer()
  server.once("error", (error) => resume(Effect.die(error)))
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

interface Needs {
  readonly workspaces: LocalWorkspaces["Type"]
  readonly ids: Ids["Type"]
}

/** Evaluates templates on this machine. A start takes a free port unless it is given one. */
export const evaluations =
  ({ ids, workspaces }: Needs) =>
  (template: Template, input: PlanInput, known?: number): Effect.Effect<PlacedEvaluation, ProvisionFailure> =>
    Effect.gen(function* () {
      const tokens = new Map<string, Uuid.Uuid>()
      const spare = yield* ids.secret
      for (const { name } of template.definition.agents) tokens.set(name, yield* ids.secret)
      const directory = workspaces.directoryOf(input.metadata.workspace_id)
      const port = known ?? (input.metadata.transition === "start" ? yield* freePort : 0)
      const evaluation = yield* Either.mapLeft(
        evaluate(template, input, {
          kind: "machine",
          directory,
          resourceType,
          platform,
          port,
          token: (agent) => tokens.get(agent) ?? spare
        }),
        evaluationFailure
      )
      return { ...evaluation, port }
    })
