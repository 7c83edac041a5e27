/** Forms of templates that a daemon of another process has imported; the server evaluates them. */
import { TerraformProvisioner } from "@atelier/provisioner-terraform"
import { Effect, Layer, Schema } from "effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pack } from "tar-stream"
import { expect, it } from "vitest"
import { fileIdOf, upload } from "../../../../../test/http/templates.js"
import { describeAgentInterface } from "../../agents/AgentServer.js"
import { aDaemon, aKey, keyHeader } from "./aDaemon.js"

const Identified = Schema.Struct({ id: Schema.String })

const Form = Schema.Struct({
  diagnostics: Schema.Array(Schema.Struct({ summary: Schema.String, detail: Schema.String })),
  parameters: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      value: Schema.Struct({ value: Schema.String, valid: Schema.Boolean })
    })
  )
})

const parameter = (name: string, value: string): string =>
  `data "coder_parameter" "${name}" {\n  name = "${name}"\n  default = ${value}\n}\n`

/** A template with files, and links that lead out of it. */
const anArchive = async (files: Readonly<Record<string, string>>, links: Readonly<Record<string, string>> = {}): Promise<Buffer> => {
  const archive = pack()
  for (const [name, linkname] of Object.entries(links)) archive.entry({ name, linkname, type: "symlink" })
  for (const [name, text] of Object.entries(files)) archive.entry({ name }, text)
  archive.finalize()
  const chunks: Array<Buffer> = []
  for await (const chunk of archive) if (chunk instanceof Buffer) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describeAgentInterface(
  "a form of a template that another process has imported",
  (server) => {
    /** Imports by a daemon that finds nothing in the source, and evaluates the form. */
    const formOf = async (name: string, archive: Buffer) => {
      const { token, user } = server().owner()
      const daemon = await aDaemon(server().url, { [keyHeader]: await aKey(server(), name, { site: name }) }, `&name=${name}&version=1.18`)
      const body = {
        storage_method: "file",
        provisioner: "terraform",
        file_id: fileIdOf(await upload(server(), archive)),
        tags: { site: name }
      }
      const { id } = (await server().call("POST", "/organizations/default/templateversions", { token, body })).as(Identified)
      const { job_id } = await daemon.acquire()
      await Effect.runPromise(daemon.calls.CompleteJob({ job_id, type: { case: "template_import", value: {} } }))
      await daemon.close()
      const path = `/templateversions/${id}/dynamic-parameters/evaluate`
      return (await server().call("POST", path, { token, body: { inputs: {}, owner_id: user.id } })).as(Form)
    }

    it.each([
      [1_000, 1_000, []],
      [1_001, 0, ["The template has more than 1000 parameters."]]
    ])("of %i parameters shows %i", async (count, shown, details) => {
      const text = Array.from({ length: count }, (_, index) => parameter(`p${index}`, `"${index}"`)).join("")
      const { diagnostics, parameters } = await formOf(`of-${count}`, await anArchive({ "main.tf": text }))
      expect([parameters.length, diagnostics.map(({ detail }) => detail)]).toStrictEqual([shown, details])
    })

    it("has no value for parameters that refer to each other", async () => {
      const text = parameter("a", "data.coder_parameter.b.value") + parameter("b", "data.coder_parameter.a.value")
      const { parameters } = await formOf("cyclic", await anArchive({ "main.tf": text }))
      expect(parameters.map(({ name, value }) => [name, value.valid])).toStrictEqual([
        ["a", false],
        ["b", false]
      ])
    })

    it("reads files of the template alone, and follows no links", async () => {
      const paths = { inside: "site.txt", absolute: "/etc/hostname", above: "../../etc/hostname", link: "link", folder: "links/hostname" }
      const text = Object.entries(paths).map(([name, path]) => parameter(name, `file("${path}")`))
      const files = { "main.tf": text.join(""), "site.txt": "lab" }
      const { parameters } = await formOf("reading", await anArchive(files, { link: "/etc/hostname", links: "/etc" }))
      const values = Object.fromEntries(parameters.map(({ name, value }) => [name, value.valid ? value.value : null]))
      expect(values).toStrictEqual({ inside: "lab", absolute: null, above: null, link: null, folder: null })
    })
  },
  {
    entitlements: { has: () => true },
    options: { provisionerDaemons: 0 },
    provisioner: Layer.unwrapEffect(
      Effect.sync(() => TerraformProvisioner.layer({ directory: mkdtempSync(join(tmpdir(), "remote-forms-")) }))
    )
  }
)
