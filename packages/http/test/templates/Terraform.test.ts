/** Templates of Terraform over HTTP, with the real program. */
import { ResourceView } from "@atelier/core/agents"

import { ProvisionerEngines } from "@atelier/core/provisioning"
import { TemplateView } from "@atelier/core/templates"
import { LocalProvisioner } from "@atelier/provisioner"
import { TerraformProvisioner } from "@atelier/provisioner-terraform"
import { Effect, Layer, Schema } from "effect"
import { mkdtempSync, readdirSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { aTar } from "../../../../test/records/archives.js"
import { describeInterface } from "../../../../test/http/server.js"
import { anImportedVersion, fileIdOf, upload } from "../../../../test/http/templates.js"
import { environment, missing } from "../../../../test/outside/terraform.js"
import { aBuild, aWorkspace } from "../../../../test/http/workspaceCalls.js"
import { Response } from "../../src/wire/errors.js"

const template = `
terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}

variable "image" {
  description = "The image of the machine."
  type        = string
}

data "coder_workspace" "me" {}

data "coder_parameter" "cores" {
  name    = "cores"
  type    = "number"
  default = 2
  mutable = true
  option {
    name  = "Two"
    value = 2
  }
  option {
    name  = "Four"
    value = 4
  }
}

data "coder_workspace_preset" "large" {
  name       = "Large"
  parameters = { cores = "4" }
}

resource "coder_agent" "main" {
  os   = "linux"
  arch = "amd64"
  env  = { CORES = data.coder_parameter.cores.value }
}

resource "coder_app" "editor" {
  agent_id = coder_agent.main.id
  slug     = "editor"
  url      = "http://localhost:8080"
}

resource "terraform_data" "machine" {
  count = data.coder_workspace.me.start_count
  input = coder_agent.main.token
}

resource "terraform_data" "home" {
  input = data.coder_workspace.me.id
}
`

const folder = mkdtempSync(join(tmpdir(), "terraform-http-"))

const engines = (directory: string, options: Partial<TerraformProvisioner.Options> = {}) =>
  Layer.unwrapEffect(
    Effect.sync(() =>
      ProvisionerEngines.inOrder([
        LocalProvisioner.layer({ directory: join(directory, "workspaces"), agent: { command: [process.execPath] } }),
        TerraformProvisioner.layer({ environment, directory: join(directory, "terraform"), ...options })
      ])
    )
  )

const Tagged = Schema.Struct({ job: Schema.Struct({ tags: Schema.Record({ key: Schema.String, value: Schema.String }) }) })

const Rows = Schema.Array(ResourceView)

const Timings = Schema.Struct({
  provisioner_timings: Schema.Array(
    Schema.Struct({ stage: Schema.String, source: Schema.String, action: Schema.String, resource: Schema.String })
  )
})

const outline = (rows: typeof Rows.Type) =>
  rows.map(({ agents, name, type }) =>
    [`${type}.${name}`, ...(agents ?? []).map((agent) => `${agent.name}: ${agent.apps.map(({ slug }) => slug).join()}`)].join(" ")
  )

describe.skipIf(missing !== undefined)(`with Terraform${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  describeInterface(
    "a template of Terraform",
    (server) => {
      const source = async (files: Readonly<Record<string, string>>) => fileIdOf(await upload(server(), await aTar(files)))
      const call = (method: "GET" | "POST", path: string, body?: unknown) =>
        server().call(method, path, { token: server().owner().token, ...(body === undefined ? {} : { body }) })

      it("is imported, and its workspaces are started, stopped and deleted", async () => {
        const file_id = await source({ "main.tf": template, "README.md": "# Machines" })
        const incomplete = await anImportedVersion(server(), {}, { provisioner: "terraform", file_id })
        expect(incomplete.job).toMatchObject({ status: "failed", error_code: "REQUIRED_TEMPLATE_VARIABLES" })

        const user_variable_values = [{ name: "image", value: "debian" }]
        const version = await anImportedVersion(server(), {}, { provisioner: "terraform", file_id, user_variable_values })
        expect(version.job.error).toBeUndefined()
        expect(version.readme).toBe("# Machines")
        const parts = async (part: string) => (await call("GET", `/templateversions/${version.id}/${part}`)).body
        expect(await parts("variables")).toMatchObject([{ name: "image", description: "The image of the machine.", value: "debian" }])
        expect(await parts("rich-parameters")).toMatchObject([{ name: "cores", type: "number", default_value: "2", form_type: "radio" }])
        expect(await parts("presets")).toMatchObject([{ Name: "Large", Parameters: [{ Name: "cores", Value: "4" }] }])

        const made = await call("POST", "/organizations/default/templates", { name: "machines", template_version_id: version.id })
        const workspace = await aWorkspace(server(), made.as(TemplateView), server().owner(), {
          rich_parameter_values: [{ name: "cores", value: "4" }]
        })
        expect(workspace.latest_build).toMatchObject({ status: "running", job: { status: "succeeded" } })
        const resources = workspace.latest_build.resources
        expect(outline(Schema.decodeUnknownSync(Rows)(resources))).toEqual(["terraform_data.machine main: editor", "terraform_data.home"])
        expect(resources[0]?.agents?.[0]?.environment_variables).toEqual({ CORES: "4" })
        const timings = await call("GET", `/workspacebuilds/${workspace.latest_build.id}/timings`)
        const { provisioner_timings } = timings.as(Timings)
        expect(provisioner_timings).toContainEqual({ stage: "apply", source: "coder", action: "create", resource: "coder_agent.main" })
        const stages = ["init", "plan", "apply", "graph"].map((stage) => `${stage} coder terraform coder_stage_${stage}`)
        const rows = provisioner_timings.map(({ action, resource, source, stage }) => `${stage} ${source} ${action} ${resource}`)
        expect(rows.filter((row) => /coder_stage|workspace$/.test(row))).toEqual(stages)
        expect(rows).toContain("init  load provider plugins")

        const stopped = await aBuild(server(), workspace, server().owner(), { transition: "stop" })
        expect(stopped).toMatchObject({ status: "stopped" })
        expect(stopped.resources.map(({ name }) => name)).toEqual(["home"])
        const deleted = await aBuild(server(), workspace, server().owner(), { transition: "delete" })
        expect(deleted).toMatchObject({ status: "deleted", resources: [] })
        expect(readdirSync(join(folder, "terraform", "jobs"))).toEqual([])
      })

      it("may lie beside one of the local engine, which has precedence", async () => {
        const file_id = await source({ "main.tf": "locals {", "template.yaml": "agents: [{ name: main }]" })
        const version = await anImportedVersion(server(), {}, { provisioner: "terraform", file_id })
        expect(version.job).toMatchObject({ status: "succeeded" })
      })

      it.each([
        [
          "two parameters of one name",
          ["a", "b"].map((label) => `data "coder_parameter" "${label}" {\n  name = "size"\n  default = "x"\n}\n`),
          []
        ],
        ["a parameter of an unknown type", ['data "coder_parameter" "a" {\n  name = "size"\n  type = "date"\n}\n'], []],
        ["a tag that is no text", ['data "coder_workspace_tags" "t" {\n  tags = {\n    site = ["a"]\n  }\n}\n'], ["site"]],
        [
          "an unknown tag",
          ['resource "terraform_data" "d" {}\ndata "coder_workspace_tags" "t" {\n  tags = { site = terraform_data.d.id }\n}\n'],
          ["site"]
        ],
        [
          "a preset that lacks a value",
          [
            'data "coder_parameter" "p" {\n  name = "zone"\n}\ndata "coder_workspace_preset" "p" {\n  name = "Pool"\n  prebuilds {\n    instances = 1\n  }\n}\n'
          ],
          ["Pool"]
        ]
      ])("with %s is refused before its import", async (_, blocks, fields) => {
        const file_id = await source({ "main.tf": blocks.join("") })
        const body = { name: "refused", storage_method: "file", provisioner: "terraform", file_id }
        const answer = await call("POST", "/organizations/default/templateversions", body)
        expect(answer.status).toBe(400)
        const { validations } = answer.as(
          Schema.Struct({ validations: Schema.optionalWith(Schema.Array(Schema.Struct({ field: Schema.String })), { default: () => [] }) })
        )
        expect(validations.map(({ field }) => field)).toStrictEqual(fields)
      })

      it("has the parameters of downloaded modules in its form and builds", async () => {
        const downloads = createServer((_, response) => {
          void aTar({
            "main.tf": `terraform {\n  required_providers {\n    coder = {\n      source = "coder/coder"\n    }\n  }\n}\n
              data "coder_parameter" "zone" {\n  name = "zone"\n  default = trimspace(file("\${path.module}/zone"))\n  mutable = true\n}\n
              output "zone" {\n  value = data.coder_parameter.zone.value\n}\n`,
            zone: "eu\n"
          }).then((tar) => response.end(gzipSync(tar)))
        })
        await new Promise<void>((resolve) => downloads.listen(0, "127.0.0.1", resolve))
        const address = downloads.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        try {
          const far = `module "far" {\n  source = "http://127.0.0.1:${port}/far.tar.gz"\n}\n`
          const file_id = await source({ "main.tf": template + far })
          const user_variable_values = [{ name: "image", value: "debian" }]
          const { id, job } = await anImportedVersion(server(), {}, { provisioner: "terraform", file_id, user_variable_values })
          expect(job.error).toBeUndefined()
          const body = { inputs: { zone: "us" }, owner_id: server().owner().user.id }
          const form = await call("POST", `/templateversions/${id}/dynamic-parameters/evaluate`, body)
          expect(form.body).toMatchObject({ diagnostics: [], parameters: [{ name: "cores" }, { name: "zone", value: { value: "us" } }] })

          const made = await call("POST", "/organizations/default/templates", { name: "far", template_version_id: id })
          const { latest_build } = await aWorkspace(server(), made.as(TemplateView), server().owner())
          const values = await call("GET", `/workspacebuilds/${latest_build.id}/parameters`)
          expect(values.body).toStrictEqual([
            { name: "cores", value: "2" },
            { name: "zone", value: "eu" }
          ])
        } finally {
          downloads.close()
        }
      })

      it.each([
        ["a file", { "main.tf": 'data "coder_workspace" "me" {\n' }, "main.tf:2: a block has no end"],
        [
          "a file of a module",
          { "main.tf": 'module "m" {\n  source = "./m"\n}\n', "m/main.tf": "locals {\n  a = [\n}\n" },
          "on m/main.tf line "
        ],
        ["a file in JSON", { "main.tf.json": '{\n  "locals": ]\n}' }, "main.tf.json:2: a value is expected"]
      ])("with %s that is broken fails its import with the file and line", async (_, files, place) => {
        const { id, job } = await anImportedVersion(server(), {}, { provisioner: "terraform", file_id: await source(files) })
        expect(job.status).toBe("failed")
        expect(`${job.error} ${(await call("GET", `/templateversions/${id}/logs`)).text}`).toContain(place)
      })

      it("whose parameters refer to each other fails its import, and its log says so", async () => {
        const parameter = (name: string, other: string) =>
          `data "coder_parameter" "${name}" {\n  name = "${name}"\n  default = data.coder_parameter.${other}.value\n}\n`
        const [head = ""] = template.split("variable")
        const file_id = await source({ "main.tf": head + parameter("a", "b") + parameter("b", "a") })
        const { id, job } = await anImportedVersion(server(), {}, { provisioner: "terraform", file_id })
        expect(job.status).toBe("failed")
        expect((await call("GET", `/templateversions/${id}/logs`)).text).toContain("Cycle: data.coder_parameter.")
      })

      it("leaves its state with a start that fails, so that it can be deleted", async () => {
        const failing = `
resource "terraform_data" "first" {}

resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "exit 3"
  }
}
`
        const file_id = await source({ "main.tf": failing })
        const version = await anImportedVersion(server(), {}, { provisioner: "terraform", file_id })
        const made = await call("POST", "/organizations/default/templates", { name: "failing", template_version_id: version.id })
        const { id, latest_build } = await aWorkspace(server(), made.as(TemplateView), server().owner())
        expect(latest_build).toMatchObject({ status: "failed" })
        expect(latest_build.job.error).toBe("terraform apply: exit status 1")
        const logs = await call("GET", `/workspacebuilds/${latest_build.id}/logs`)
        expect(logs.text).toContain("on main.tf line 6")
        const state = await call("GET", `/workspacebuilds/${latest_build.id}/state`)
        expect(state.text).toContain("terraform_data")
        expect(await aBuild(server(), { id }, server().owner(), { transition: "delete" })).toMatchObject({ status: "deleted" })
      })
    },
    { provisioner: engines(folder), logLevel: "error" }
  )
})

describeInterface(
  "a template of Terraform without the program",
  (server) => {
    it("fails its import with what to install", async () => {
      const file_id = fileIdOf(await upload(server(), await aTar({ "main.tf": template })))
      const user_variable_values = [{ name: "image", value: "debian" }]
      const { job } = await anImportedVersion(server(), {}, { provisioner: "terraform", file_id, user_variable_values })
      expect(job).toMatchObject({ status: "failed" })
      expect(job.error).toBe(
        "This server has no Terraform: install terraform or tofu on the PATH of the server, or name the program in the option terraform-binary."
      )
    })

    const parameter = (name: string, more = "") => `data "coder_parameter" "${name}" {\n  name = "${name}"\n  ${more}\n}\n`

    const request = async (files: Readonly<Record<string, string>>) =>
      server().call("POST", "/organizations/default/templateversions", {
        token: server().owner().token,
        body: { storage_method: "file", provisioner: "terraform", file_id: fileIdOf(await upload(server(), await aTar(files))) }
      })

    it.each([
      [2, 400, { message: "The presets of the template cannot be used.", validations: [expect.objectContaining({ field: "Large" })] }],
      [0, 201, { job: { status: "pending" } }]
    ])("with a preset of %i prebuilt workspaces that lacks a required value: %i", async (instances, status, body) => {
      const preset = `data "coder_workspace_preset" "large" {
  name       = "Large"
  parameters = { size = "l" }
  prebuilds {
    instances = ${instances}
  }
}
`
      const answer = await request({ "main.tf": parameter("size", 'default = "s"') + parameter("region") + preset })
      expect([answer.status, answer.body]).toMatchObject([status, body])
    })

    it("may not have parameters that refer to each other or share a name", async () => {
      const cyclic = ["a", "b"].map((name) => parameter(name, `default = data.coder_parameter.${name === "a" ? "b" : "a"}.value`))
      expect((await request({ "main.tf": cyclic.join("") })).status).toBe(201)
      const twice = await request({ "main.tf": parameter("a") + parameter("b").replace('name = "b"', 'name = "a"') })
      expect([twice.status, twice.as(Response).message]).toStrictEqual([400, "The form of the template is broken."])
    })

    it("reads no files outside of the template for its tags", async () => {
      const tags = (path: string) => `data "coder_workspace_tags" "t" {\n  tags = { site = file("${path}") }\n}\n`
      const inside = await request({ "main.tf": tags("site.txt"), "site.txt": "lab" })
      expect(inside.body).toMatchObject({ job: { tags: { site: "lab" } } })
      for (const path of ["/etc/hostname", "../../etc/hostname", "x/../../secret"]) {
        const answer = await request({ "main.tf": tags(path) })
        // The import says what is wrong
        expect([answer.status, answer.as(Tagged).job.tags]).toStrictEqual([201, { scope: "organization", owner: "" }])
      }
    })
  },
  { provisioner: engines(mkdtempSync(join(tmpdir(), "terraform-none-")), { environment: { PATH: "/nowhere" } }), logLevel: "error" }
)
