import { Schema } from "effect"
import { expect, it } from "vitest"
import { testEngines } from "../../../../../test/outside/engine.js"
import { describeServer } from "../../../../../test/http/server.js"
import { anImportedVersion, aTemplate, aVersion } from "../../../../../test/http/templates.js"

describeServer(
  "archived versions",
  (server) => {
    const call = (method: "GET" | "POST" | "PATCH", path: string, body?: unknown, token = server().owner().token) =>
      server().call(method, path, body === undefined ? { token } : { token, body })

    const archive = async (version: string, action = "archive") => (await call("POST", `/templateversions/${version}/${action}`)).status

    const namesOf = async (template: string, query = "") =>
      (await call("GET", `/templates/${template}/versions${query}`))
        .as(Schema.Array(Schema.Struct({ id: Schema.String })))
        .map(({ id }) => id)

    it("are those that nothing uses, and come back", async () => {
      const { active_version_id: active, id: template_id } = await aTemplate(server())
      const used = await anImportedVersion(server(), {}, { template_id })
      const other = await anImportedVersion(server(), {}, { template_id })
      const waiting = await aVersion(server(), {}, { template_id, tags: { gpu: "yes" } })
      const loose = await anImportedVersion(server())
      await call("PATCH", `/templates/${template_id}/versions`, { id: used.id })
      const workspace = await call("POST", "/users/me/workspaces", { template_id, name: "uses-a-version" })
      expect(workspace.status).toBe(201)
      await call("PATCH", `/templates/${template_id}/versions`, { id: active })
      expect(await archive(active)).toBe(409)
      expect(await archive(used.id)).toBe(409)
      expect(await archive(waiting.id)).toBe(409)
      expect(await archive(loose.id)).toBe(400)
      expect(await archive(other.id, "unarchive")).toBe(400)
      expect((await call("POST", `/templateversions/${other.id}/archive`)).body).toStrictEqual({
        message: `template version "${other.id}" archived`
      })
      expect(await archive(other.id)).toBe(400)
      expect(await namesOf(template_id)).not.toContain(other.id)
      expect(await namesOf(template_id, "?include_archived=true")).toContain(other.id)
      expect((await call("PATCH", `/templates/${template_id}/versions`, { id: other.id })).status).toBe(400)
      expect(await archive(other.id, "unarchive")).toBe(200)
      expect(await namesOf(template_id)).toContain(other.id)
    })

    it("of a template are all that nothing uses, or those that failed", async () => {
      const { active_version_id: active, id } = await aTemplate(server())
      const failed = await anImportedVersion(server(), { fails: "plan" }, { template_id: id })
      const other = await anImportedVersion(server(), {}, { template_id: id })
      const archiveUnused = async (all: boolean, token?: string) => await call("POST", `/templates/${id}/versions/archive`, { all }, token)
      const member = await server().aMember()
      expect((await archiveUnused(true, member.token)).status).toBe(404)
      expect((await archiveUnused(false)).body).toMatchObject({ template_id: id, archived_ids: [failed.id], message: expect.any(String) })
      expect((await archiveUnused(false)).body).toMatchObject({ template_id: id, archived_ids: [], message: expect.any(String) })
      expect((await archiveUnused(true)).body).toMatchObject({ template_id: id, archived_ids: [other.id], message: expect.any(String) })
      expect(await namesOf(id)).toStrictEqual([active])
    })

    it("have no parameters or schemas of old, as all versions", async () => {
      const { id } = await anImportedVersion(server())
      expect((await call("GET", `/templateversions/${id}/parameters`)).body).toStrictEqual([])
      expect((await call("GET", `/templateversions/${id}/schema`)).body).toStrictEqual([])
      expect((await call("GET", "/templateversions/44444444-4444-4444-8444-444444444444/schema")).status).toBe(404)
    })
  },
  { provisioner: testEngines, logLevel: "error" }
)
