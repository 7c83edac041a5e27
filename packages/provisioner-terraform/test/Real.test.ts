/** The engine with the real Terraform and provider. */
import { describe, expect, layer } from "@effect/vitest"
import { Uuid } from "@atelier/core/platform"
import type { EngineTiming, Plan, ProvisionFailure } from "@atelier/core/provisioning"
import { Cause, Deferred, Effect, Either, Exit, Fiber, Option } from "effect"
import { readFileSync } from "node:fs"
import { evaluate } from "../../provisioner/src/template/Evaluation.js"
import { templateVariables } from "../../provisioner/src/template/ParameterEvaluation.js"
import { readTemplate } from "../../provisioner/src/template/TemplateSource.js"
import { aLog, aPlanInput, runAtOnce, tarOf, uuid } from "../../provisioner/test/builders.js"
import { anEngine } from "./engine.js"
import { environment, missing } from "../../../test/outside/terraform.js"

const template = `
terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}

variable "image" {
  type    = string
  default = "debian"
}

variable "password" {
  type      = string
  sensitive = true
}

data "coder_workspace" "me" {}

data "coder_parameter" "size" {
  name    = "size"
  type    = "number"
  default = 2
  mutable = true
  validation {
    min = 1
    max = 4
  }
}

resource "coder_agent" "main" {
  os   = "linux"
  arch = "amd64"
  env = {
    SIZE  = data.coder_parameter.size.value
    IMAGE = var.image
  }
}

resource "coder_app" "editor" {
  agent_id = coder_agent.main.id
  slug     = "editor"
  url      = "http://localhost:8080"
}

resource "terraform_data" "machine" {
  count = data.coder_workspace.me.start_count
  input = "\${coder_agent.main.token} \${nonsensitive(var.password)}"

  provisioner "local-exec" {
    command = "echo the password is \${nonsensitive(var.password)}"
  }
}
`

const archive = (source: string) => Effect.promise(() => tarOf([["main.tf", source]]))

/** The template of the documentation that is written for both engines. */
const documented = (language: string): string => {
  const page = readFileSync(new URL("../../../docs/templates.md", import.meta.url), "utf8")
  const section = page.slice(page.indexOf("## Templates of Terraform"))
  return new RegExp("```" + language + "\\n(.*?)```", "s").exec(section)?.[1] ?? ""
}

const messageOf = (exit: Exit.Exit<unknown, ProvisionFailure>): string | undefined =>
  Exit.isFailure(exit) ? Option.getOrUndefined(Option.map(Cause.failureOption(exit.cause), ({ message }) => message)) : undefined

class RealEngine extends Effect.Service<RealEngine>()("RealEngine", {
  scoped: Effect.map(anEngine({ environment }), ({ engine }) => ({ engine }))
}) {}

const inputOf = (values: Parameters<typeof aPlanInput>[0] = {}) => ({
  ...aPlanInput(values),
  variables: [
    { name: "image", value: "alpine", sensitive: false },
    { name: "password", value: "correct horse", sensitive: true }
  ]
})

describe.skipIf(missing !== undefined)(`with Terraform${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  layer(RealEngine.Default, { timeout: "1 minute", excludeTestServices: true })("the engine", (it) => {
    it.scoped("imports, starts, stops and destroys a workspace", () =>
      Effect.gen(function* () {
        const { engine } = yield* RealEngine
        const log = aLog()
        const session = yield* engine.open(yield* archive(template), log.sink)
        const parsed = yield* session.parse
        expect(parsed.variables).toEqual([
          { name: "image", description: "", type: "string", default_value: "debian", required: false, sensitive: false },
          { name: "password", description: "", type: "string", default_value: "", required: true, sensitive: true }
        ])

        const planned = yield* session.plan(inputOf())
        expect(planned.resources.map(({ name, agents }) => [name, agents.map((agent) => agent.environment_variables)])).toEqual([
          ["machine", [{ SIZE: "2", IMAGE: "alpine" }]]
        ])
        const rowsOf = ({ timings = [] }: { readonly timings?: ReadonlyArray<EngineTiming> }) =>
          timings.map(({ action, resource, source, stage }) => `${stage} ${source} ${action} ${resource}`)
        expect(rowsOf(planned).filter((row) => !row.includes(" data."))).toEqual([
          "init coder terraform coder_stage_init",
          "init  load provider plugins",
          "plan coder terraform coder_stage_plan"
        ])
        expect(planned.parameters).toMatchObject([{ name: "size", type: "number", required: false, validation_min: 1, validation_max: 4 }])

        const start = inputOf({ parameters: { size: "3" } })
        const started = yield* session.apply(start)
        const [agent] = started.resources[0]?.agents ?? []
        expect(agent?.environment_variables).toEqual({ SIZE: "3", IMAGE: "alpine" })
        expect(agent?.apps.map(({ id, slug }) => [slug, id !== undefined])).toEqual([["editor", true]])
        expect(rowsOf(started)).toContain("apply terraform create terraform_data.machine[0]")
        const stages = ["apply coder terraform coder_stage_apply", "graph coder terraform coder_stage_graph"]
        expect(rowsOf(started).filter((row) => row.includes("coder_stage"))).toEqual(stages)
        const output = log.lines.map((line) => line.output).join("\n")
        expect(output).toContain("the password is ***")
        expect(output).not.toContain("correct horse")

        const stopped = yield* session.apply(inputOf({ metadata: { transition: "stop" }, state: started.state }))
        expect(stopped.resources).toEqual([])
        expect(new TextDecoder().decode(stopped.state)).toContain("coder_agent")

        const deleted = yield* session.apply(inputOf({ metadata: { transition: "delete" }, state: stopped.state }))
        expect(deleted.state).toHaveLength(0)
        expect(rowsOf(deleted).filter((row) => row.includes("coder_stage"))).toEqual(stages)
      })
    )

    it.scoped("keeps the token of a prebuilt workspace's agent when it is claimed", () =>
      Effect.gen(function* () {
        const { engine } = yield* RealEngine
        const session = yield* engine.open(yield* archive(template), aLog().sink)
        const made = yield* session.apply(inputOf({ metadata: { prebuilt_workspace_stage: "create" } }))
        const claimed = yield* session.apply(
          inputOf({ metadata: { prebuilt_workspace_stage: "claim", owner_id: uuid(8), owner_username: "grace" }, state: made.state })
        )
        expect(claimed.resources[0]?.agents[0]?.auth).toEqual(made.resources[0]?.agents[0]?.auth)
      })
    )

    it.scoped("makes the same of the documentation's template as the local engine", () =>
      Effect.gen(function* () {
        const { engine } = yield* RealEngine
        const session = yield* engine.open(yield* archive(documented("hcl")), aLog().sink)
        const input = aPlanInput({ variables: { image: "alpine" }, parameters: { cores: "4" } })
        const local = Either.getOrThrow(
          readTemplate(new Map([["template.yaml", { bytes: new TextEncoder().encode(documented("yaml")), mode: 0o644 }]])).pipe(runAtOnce)
        )
        const place = {
          kind: "machine",
          resourceType: "local_directory",
          directory: "/w",
          platform: { os: "linux", arch: "amd64" },
          port: 1,
          token: () => uuid(1)
        } as const
        const expected = Either.getOrThrow(evaluate(local, input, place))
        const outline = ({ parameters, resources }: Plan) => ({
          parameters,
          agents: resources.flatMap(({ agents }) =>
            agents.map(({ apps, environment_variables, name }) => ({
              name,
              environment_variables,
              apps: apps.map(({ display_name, slug, url }) => ({ slug, display_name, url }))
            }))
          )
        })
        expect(outline(yield* session.plan(input))).toEqual(outline(expected.plan))
        expect((yield* session.parse).variables).toEqual(templateVariables(local))
      })
    )

    it.scoped("imports a template whose required parameters have rules, without storing a value for them", () =>
      Effect.gen(function* () {
        const { engine } = yield* RealEngine
        const source = `${template}
data "coder_parameter" "project" {
  name = "project"
  validation {
    regex = "^[a-z]+$"
    error = "Lower case only."
  }
}

data "coder_parameter" "seats" {
  name = "seats"
  type = "number"
  validation {
    min = 3
    max = 5
  }
}
`
        const log = aLog()
        const session = yield* engine.open(yield* archive(source), log.sink)
        const { parameters } = yield* session.plan(inputOf({ metadata: { workspace_id: Uuid.nil } }))
        expect(parameters.map(({ default_value, name, required }) => [name, default_value, required])).toEqual([
          ["project", "", true],
          ["seats", "", true],
          ["size", "2", false]
        ])
        const built = yield* Effect.exit(session.plan(inputOf()))
        expect(messageOf(built)).toBe("terraform plan: exit status 1")
        expect(log.lines.map((line) => line.output).join("\n")).toContain("Lower case only.")
      })
    )

    it.scoped("names the file and line of an error, and the values that are wrong", () =>
      Effect.gen(function* () {
        const { engine } = yield* RealEngine
        const log = aLog()
        const broken = yield* engine.open(yield* archive(`${template}\nlocals {\n  wrong = var.absent\n}\n`), log.sink)
        expect(messageOf(yield* Effect.exit(broken.plan(inputOf())))).toBe("terraform plan: exit status 1")
        const output = log.lines.map((line) => line.output)
        expect(output).toContain("Error: Reference to undeclared input variable")
        expect(output.some((line) => /^on main\.tf line \d+, in locals:$/.test(line))).toBe(true)
        const session = yield* engine.open(yield* archive(template), log.sink)
        yield* Effect.exit(session.plan(inputOf({ parameters: { size: "9" } })))
        expect(log.lines.map((line) => line.output).join("\n")).toContain("more than the maximum")
      })
    )

    it.scoped("keeps what a canceled start has made", () =>
      Effect.gen(function* () {
        const { engine } = yield* RealEngine
        const source = `
resource "terraform_data" "first" {}

resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "echo begun; sleep 600"
  }
}
`
        const begun = yield* Deferred.make<void>()
        const session = yield* engine.open(yield* archive(source), ({ output }) =>
          output.includes("begun") && !output.includes("Executing") ? Effect.asVoid(Deferred.succeed(begun, undefined)) : Effect.void
        )
        const fiber = yield* Effect.fork(session.apply(aPlanInput()))
        yield* Deferred.await(begun)
        const exit = yield* Fiber.interrupt(fiber)
        const failure = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
        expect(failure?.message).toMatch(/^terraform apply: canceled/)
        expect(new TextDecoder().decode(failure?.state)).toContain("terraform_data")

        const removal = aPlanInput({ metadata: { transition: "delete" }, state: failure?.state ?? new Uint8Array(0) })
        expect(yield* session.apply(removal)).toMatchObject({ resources: [] })
      })
    )
  })
})
