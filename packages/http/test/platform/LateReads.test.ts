/** Changes that two callers make at once, where the second one has read what the first one changes. */
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import { describeServerOnEach } from "../../../../test/http/server.js"
import { aTemplate, anImportedVersion } from "../../../../test/http/templates.js"
import { aName, aWorkspace } from "../../../../test/http/workspaceCalls.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { overtaking } from "../../../../test/store/overtaking.js"

const App = Schema.Struct({ id: Uuid.Uuid })
const Version = Schema.Struct({ name: Schema.String, message: Schema.String })

describeServerOnEach(
  "a change that comes behind another",
  (server) => {
    const call = (method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: object) =>
      server().call(method, path, { token: server().owner().token, ...(body === undefined ? {} : { body }) })

    /** What the entries about a resource say of its name. */
    const namesOf = async (id: Uuid.Uuid) =>
      (await server().run(auditEntries({ resource_id: id }))).flatMap(({ action, diff }) =>
        action === "write" ? [[diff["name"]?.old, diff["name"]?.new]] : []
      )

    it("renames a workspace from the name that the other gave it", async () => {
      const { id, name } = await aWorkspace(server(), await aTemplate(server()), server().owner())
      const [one, two] = [aName(), aName()]
      const rename = (to: string) => () => call("PATCH", `/workspaces/${id}`, { name: to })
      const lock = `SELECT 1 FROM workspaces WHERE id = '${id}' FOR UPDATE`
      const answers = await overtaking(server(), lock, rename(one), rename(two))
      expect(answers.map(({ status }) => status)).toStrictEqual([204, 204])
      expect(await namesOf(id)).toStrictEqual([
        [name, one],
        [one, two]
      ])
    })

    it("keeps the name of a template version where it gives a message", async () => {
      const { id } = await anImportedVersion(server(), {}, { template_id: (await aTemplate(server())).id })
      const change = (body: object) => () => call("PATCH", `/templateversions/${id}`, body)
      const lock = `SELECT 1 FROM template_versions WHERE id = '${id}' FOR UPDATE`
      const [first, second] = await overtaking(server(), lock, change({ name: "renamed" }), change({ name: "", message: "told" }))
      expect([first.status, second.as(Version)]).toStrictEqual([200, { name: "renamed", message: "told" }])
      expect((await call("GET", `/templateversions/${id}`)).as(Version)).toStrictEqual({ name: "renamed", message: "told" })
    })

    const fields = { callback_url: "https://client.example/callback", icon: "" }
    const anApp = async (name: string) => (await call("POST", "/oauth2-provider/apps", { name, ...fields })).as(App).id
    const lockOfApp = (id: string) => `SELECT 1 FROM oauth2_apps WHERE id = '${id}' FOR UPDATE`

    it("changes an OAuth2 app from what the other made of it", async () => {
      const id = await anApp("zero")
      const rename = (name: string) => () => call("PUT", `/oauth2-provider/apps/${id}`, { name, ...fields })
      const answers = await overtaking(server(), lockOfApp(id), rename("one"), rename("two"))
      expect(answers.map(({ status }) => status)).toStrictEqual([200, 200])
      expect(await namesOf(id)).toStrictEqual([
        ["zero", "one"],
        ["one", "two"]
      ])
    })

    it("makes no secret of a deleted OAuth2 app", async () => {
      const id = await anApp("ended")
      const path = `/oauth2-provider/apps/${id}`
      const [deleted, refused] = await overtaking(
        server(),
        lockOfApp(id),
        () => call("DELETE", path),
        () => call("POST", `${path}/secrets`)
      )
      expect([deleted.status, refused.status]).toStrictEqual([204, 404])
    })
  },
  { provisioner: testEngines, options: { allowWorkspaceRenames: true } }
)
