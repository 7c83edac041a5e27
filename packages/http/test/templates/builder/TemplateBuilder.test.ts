import type { BuilderBase, BuilderModule } from "@atelier/core/templates"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { expect, it, vi } from "vitest"
import { testEngines } from "../../../../../test/outside/engine.js"
import { describeInterface } from "../../../../../test/http/server.js"

const base = (id: string, template: object): BuilderBase => ({
  id,
  name: id,
  description: "",
  icon: "",
  os: "linux",
  prerequisites: "",
  variables: [],
  files: { "main.tf": "", "README.md": `# ${id}\n`, "template.json": JSON.stringify({ readme: `# ${id}\n`, ...template }) }
})

const module = (id: string, fields: Partial<BuilderModule> = {}): BuilderModule => ({
  id,
  display_name: id,
  description: "",
  icon: "",
  category: "IDE",
  version: "1.0.0",
  source: `acme/${id}/coder`,
  compatible_os: ["linux"],
  conflicts_with: [],
  variables: [],
  ...fields
})

const templateBuilder = {
  bases: [base("works", {}), base("fails", { fails: "plan", logs: [] }), { ...base("glass", {}), os: "windows" }],
  modules: [
    module("code-server", {
      variables: [
        { name: "agent_id", type: "string", description: "", computed: "coder_agent.main.id" },
        { name: "port", type: "number", description: "Where it listens", default: 1 }
      ]
    }),
    module("vscode-web", { conflicts_with: ["code-server"] })
  ]
}

describeInterface(
  "the template builder",
  (server) => {
    const call = (method: "GET" | "POST", path: string, body?: object) =>
      server().call(method, `/templatebuilder${path}`, { token: server().owner().token, ...(body === undefined ? {} : { body }) })
    const home = async () =>
      (await server().call("GET", "/organizations/default", { token: server().owner().token })).as(Schema.Struct({ id: Schema.String })).id
    const create = async (fields: object) => {
      const body = { base_template_id: "works", organization_id: await home(), name: "composed", modules: [], ...fields }
      return call("POST", "/compose/template", body)
    }
    const both = { base_template_id: "works", modules: [{ id: "code-server" }, { id: "vscode-web" }] }

    it("lists bases by name, and modules without what it sets itself", async () => {
      expect((await call("GET", "/bases")).body).toMatchObject({ bases: [{ id: "fails" }, { id: "glass" }, { id: "works", os: "linux" }] })
      const port = { name: "port", type: "number", description: "Where it listens", default: 1, required: false, sensitive: false }
      expect((await call("GET", "/modules?base=works")).body).toMatchObject({
        modules: [{ id: "code-server", variables: [port] }, { id: "vscode-web" }]
      })
      expect((await call("GET", "/modules?base=glass")).body).toStrictEqual({ modules: [] })
    })

    it("gives the same bytes for the same request", async () => {
      const wanted = { base_template_id: "works", modules: [{ id: "code-server", variables: { port: "8080" } }] }
      const [one, other] = [await call("POST", "/compose", wanted), await call("POST", "/compose", wanted)]
      expect([one.status, one.headers.get("content-type")]).toStrictEqual([200, "application/x-tar"])
      expect(one.text).toBe(other.text)
      expect(one.text).toContain("port     = 8080")
    })

    it("says why a template cannot be composed", async () => {
      const answer = await call("POST", "/compose", both)
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ detail: 'The modules "code-server" and "vscode-web" exclude each other.' })
    })

    it("creates a template once its import has succeeded, under a name that is free", async () => {
      const created = await create({ display_name: "Composed", icon: "/icon/x.svg" })
      expect(created.status).toBe(201)
      expect(created.body).toMatchObject({ template: { name: "composed", display_name: "Composed", max_port_share_level: "owner" } })
      // Refused before anything is composed or imported
      expect((await create({ ...both, name: "Composed" })).status).toBe(409)
    })

    it("tells why an import has failed, and creates nothing", async () => {
      const failed = await create({ base_template_id: "fails", name: "failing" })
      expect(failed.status).toBe(400)
      expect(failed.body).toMatchObject({ message: "The template cannot be imported.", detail: expect.stringContaining("plan failed") })
      const { token } = server().owner()
      expect((await server().call("GET", "/organizations/default/templates/failing", { token })).status).toBe(404)
    })

    it("creates no template for a creator who loses the right to it during the import", async () => {
      const author = await server().aMember({ rbac_roles: ["template-admin"] })
      const { token } = server().owner()
      const body = {
        base_template_id: "works",
        organization_id: await home(),
        name: "late",
        modules: [],
        provisioner_tags: { site: "none" }
      }
      const creating = server().call("POST", "/templatebuilder/compose/template", { token: author.token, body })
      const Jobs = Schema.Array(Schema.Struct({ id: Schema.String, initiator_id: Schema.String }))
      const job = await vi.waitFor(
        async () => {
          const jobs = (await server().call("GET", "/organizations/default/provisionerjobs?status=pending", { token })).as(Jobs)
          const own = jobs.find(({ initiator_id }) => initiator_id === author.user.id)
          if (own === undefined) throw new Error("the import is not queued")
          return own
        },
        { timeout: 60_000 }
      )
      expect((await server().call("PUT", `/users/${author.user.id}/roles`, { token, body: { roles: [] } })).status).toBe(200)
      await server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          yield* sql`UPDATE provisioner_jobs SET started_at = updated_at, completed_at = updated_at WHERE id = ${job.id}`
        })
      )
      // The creator cannot read the version any more
      expect((await creating).status).toBe(404)
      expect((await server().call("GET", "/organizations/default/templates/late", { token })).status).toBe(404)
    })

    it("is for those who may create templates", async () => {
      const { token } = await server().aMember()
      const organization_id = await home()
      const asked = await Promise.all([
        server().call("GET", "/templatebuilder/bases", { token }),
        server().call("POST", "/templatebuilder/compose", { token, body: both }),
        server().call("POST", "/templatebuilder/compose/template", {
          token,
          body: { ...both, name: "x", organization_id }
        })
      ])
      expect(asked.map(({ status }) => status)).toStrictEqual([404, 404, 404])
    })
  },
  { templateBuilder, provisioner: testEngines }
)

describeInterface(
  "a template builder that is switched off",
  (server) => {
    it("is nowhere", async () => {
      const { token } = server().owner()
      const asked = await Promise.all([
        server().call("GET", "/templatebuilder/bases", { token }),
        server().call("GET", "/templatebuilder/modules", { token }),
        server().call("POST", "/templatebuilder/compose", { token, body: { base_template_id: "works" } }),
        server().call("POST", "/templatebuilder/sessions", { token, body: {} })
      ])
      expect(asked.map(({ status }) => status)).toStrictEqual([404, 404, 404, 404])
    })
  },
  { templateBuilder, options: { disableTemplateBuilder: true } }
)
