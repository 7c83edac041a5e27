/** What becomes of 43 templates, as it was recorded of the service that this one is compatible with. */
import { FormParameter, FormValue } from "@atelier/core/provisioning"
import { TerraformProvisioner } from "@atelier/provisioner"
import { Effect, Layer, Schema } from "effect"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { aTar } from "../../../../test/archives.js"
import { describeInterface } from "../../../../test/server.js"
import { anImportedVersion, fileIdOf, upload } from "../../../../test/templates.js"
import { environment, missing } from "../../../../test/terraform.js"

const Texts = Schema.Array(Schema.String)

const parameter = {
  name: Schema.String,
  type: Schema.String,
  form_type: Schema.String,
  required: Schema.Boolean,
  mutable: Schema.Boolean,
  ephemeral: Schema.Boolean,
  default_value: Schema.String
}
const Parameter = Schema.Struct({ ...parameter, options: Texts })

const Outcome = Schema.Struct({
  name: Schema.String,
  files: Schema.Record({ key: Schema.String, value: Schema.String }),
  variables: Schema.optional(Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String }))),
  /** Why the expectation differs from the recording. */
  differs: Schema.optional(Schema.String),
  status: Schema.Literal("succeeded", "failed"),
  error_code: Schema.optional(Schema.String),
  /** Each with its transition, its type and name, and its agents with their apps. */
  resources: Schema.optional(Texts),
  parameters: Schema.optional(Schema.Array(Parameter)),
  presets: Schema.optional(Texts),
  /** Of templates whose parameters are the same for all values. */
  forms: Schema.optional(
    Schema.Array(
      Schema.Struct({
        inputs: Schema.Record({ key: Schema.String, value: Schema.String }),
        parameters: Schema.Array(
          Schema.Struct({
            name: Schema.String,
            /** Null if it is not valid. */
            value: Schema.NullOr(FormValue),
            diagnostics: Texts
          })
        )
      })
    )
  ),
  flags: Schema.optional(Schema.Struct({ has_external_agent: Schema.Boolean }))
})

const outcomes = Schema.decodeUnknownSync(Schema.parseJson(Schema.Array(Outcome)))(
  readFileSync(new URL("terraform/outcomes.json", import.meta.url), "utf8")
)

const Resources = Schema.Array(
  Schema.Struct({
    workspace_transition: Schema.String,
    type: Schema.String,
    name: Schema.String,
    agents: Schema.NullishOr(
      Schema.Array(Schema.Struct({ name: Schema.String, apps: Schema.Array(Schema.Struct({ slug: Schema.String })) }))
    )
  })
)
const Shown = Schema.Struct({ ...parameter, options: Schema.NullOr(Schema.Array(Schema.Struct({ value: Schema.String }))) })
const readParameters = Schema.decodeUnknownSync(Schema.Array(Shown))
const readPresets = Schema.decodeUnknownSync(Schema.NullOr(Schema.Array(Schema.Struct({ Name: Schema.String }))))

const readForm = Schema.decodeUnknownSync(
  Schema.Struct({ diagnostics: Schema.Array(Schema.Unknown), parameters: Schema.Array(FormParameter) })
)

const outline = (resources: typeof Resources.Type): ReadonlyArray<string> =>
  resources
    .map(({ agents, name, type, workspace_transition }) =>
      [
        workspace_transition,
        `${type}.${name}`,
        ...(agents ?? [])
          .map(
            (agent) =>
              `${agent.name}(${agent.apps
                .map(({ slug }) => slug)
                .toSorted()
                .join()})`
          )
          .toSorted()
      ].join(" ")
    )
    .toSorted()

const provisioner = Layer.unwrapEffect(
  Effect.sync(() => TerraformProvisioner.layer({ environment, directory: mkdtempSync(join(tmpdir(), "terraform-outcomes-")) }))
)

describe.skipIf(missing !== undefined)(`with Terraform${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  describeInterface(
    "the import of a template",
    (server) => {
      const read = async (id: string, part: string) =>
        (await server().call("GET", `/templateversions/${id}/${part}`, { token: server().owner().token })).body

      it.concurrent.each(outcomes)("$name ends as recorded", { timeout: 60_000 }, async (expected) => {
        const file_id = fileIdOf(await upload(server(), await aTar(expected.files)))
        const variables = expected.variables === undefined ? {} : { user_variable_values: expected.variables }
        const { has_external_agent, id, job } = await anImportedVersion(server(), {}, { provisioner: "terraform", file_id, ...variables })
        expect(job).toMatchObject({
          status: expected.status,
          ...(expected.error_code === undefined ? {} : { error_code: expected.error_code })
        })
        if (job.status === "failed") expect(job.error).not.toBe("")
        if (expected.resources !== undefined) {
          expect(outline(Schema.decodeUnknownSync(Resources)(await read(id, "resources")))).toEqual(expected.resources)
        }
        if (expected.parameters !== undefined) {
          const parameters = readParameters(await read(id, "rich-parameters"))
          expect(parameters.map(({ options, ...rest }) => ({ ...rest, options: (options ?? []).map(({ value }) => value) }))).toEqual(
            expected.parameters
          )
        }
        if (expected.presets !== undefined) {
          expect((readPresets(await read(id, "presets")) ?? []).map(({ Name }) => Name).toSorted()).toEqual(expected.presets)
        }
        for (const { inputs, parameters } of expected.forms ?? []) {
          const { token, user } = server().owner()
          const path = `/templateversions/${id}/dynamic-parameters/evaluate`
          const form = readForm((await server().call("POST", path, { token, body: { inputs, owner_id: user.id } })).body)
          expect(form.diagnostics).toEqual([])
          expect(
            form.parameters.map(({ diagnostics, name, value }) => ({
              name,
              value: value.valid ? value : null,
              diagnostics: diagnostics.map(({ summary }) => summary)
            }))
          ).toEqual(parameters)
        }
        if (expected.flags !== undefined) expect({ has_external_agent }).toEqual(expected.flags)
      })
    },
    { provisioner, logLevel: "error" }
  )
})
