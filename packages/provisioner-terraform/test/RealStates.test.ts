/** What the real Terraform makes of states that it did not leave itself. terraform.md §4 no. 8. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { environment, isComplete, missing } from "../../../test/outside/terraform.js"
import { aLog, aPlanInput, tarOf } from "../../provisioner/test/builders.js"
import { anEngine } from "./engine.js"

const template = `terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}

resource "coder_agent" "main" {
  os   = "linux"
  arch = "amd64"
}
`

const State = Schema.parseJson(
  Schema.Struct(
    { version: Schema.Number, resources: Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown })) },
    { key: Schema.String, value: Schema.Unknown }
  )
)
type State = typeof State.Type

/** The same with another instance of the agent. */
const withInstance = (state: State, values: Readonly<Record<string, unknown>>): State => ({
  ...state,
  resources: state.resources.map((resource) => ({
    ...resource,
    instances: Array.isArray(resource["instances"]) ? resource["instances"].map((instance: object) => ({ ...instance, ...values })) : []
  }))
})

const withResource = (state: State, type: string, provider: string): State => ({
  ...state,
  resources: [
    ...state.resources,
    {
      mode: "managed",
      type,
      name: "x",
      provider: `provider["registry.terraform.io/${provider}"]`,
      instances: [{ schema_version: 0, attributes: { id: "x" } }]
    }
  ]
})

const cases: ReadonlyArray<readonly [name: string, change: (state: State) => State | string, error: string | undefined]> = [
  ["as it was left", (state) => state, undefined],
  ["that is empty", () => "", undefined],
  ["of a newer Terraform", (state) => ({ ...state, terraform_version: "9.0.0" }), undefined],
  ["of a newer format", (state) => ({ ...state, version: 5 }), "Error: Error acquiring the state lock"],
  ["that is cut off", (state) => JSON.stringify(state).slice(0, 200), "Error: Error acquiring the state lock"],
  [
    "with a newer schema",
    (state) => withInstance(state, { schema_version: 99 }),
    "Error: Resource instance managed by newer provider version"
  ],
  [
    "with an unknown type",
    (state) => withResource(state, "coder_gone", "coder/coder"),
    "Error: no schema available for coder_gone.x while reading state; this is a bug in Terraform and should be reported"
  ],
  ["of a provider that is missing", (state) => withResource(state, "acme_thing", "acme/acme"), "Error: Missing required provider"]
]

describe.runIf(missing === undefined && isComplete)("with Terraform", () => {
  it.scopedLive("a build starts from a state, or fails with what is wrong with it", () =>
    Effect.gen(function* () {
      const { engine } = yield* anEngine({ environment })
      const archive = yield* Effect.promise(() => tarOf([["main.tf", template]]))
      const log = aLog()
      const session = yield* engine.open(archive, log.sink)
      const { state } = yield* session.apply(aPlanInput())
      const left = Schema.decodeUnknownSync(State)(new TextDecoder().decode(state))
      for (const [name, change, error] of cases) {
        log.lines.length = 0
        const changed = change(left)
        const bytes = new TextEncoder().encode(typeof changed === "string" ? changed : JSON.stringify(changed))
        const exit = yield* Effect.exit(session.plan(aPlanInput({ state: bytes })))
        const errors = log.lines.map(({ output }) => output).filter((output) => output.startsWith("Error:"))
        expect([name, Exit.isSuccess(exit), errors[0]]).toEqual([name, error === undefined, error])
      }
    })
  )
})
