import { buildWatches, organizations, users, workspaces } from "@atelier/client"
import { expect, it } from "vitest"
import { describeServerOnEach, startServer } from "../../../../test/http/server.js"
import { sqlite } from "../../../../test/store/databases.js"
import { aTemplate } from "../../../../test/http/templates.js"
import { aWorkspace } from "../../../../test/http/workspaceCalls.js"
import { testEngines } from "../../../../test/outside/engine.js"

describeServerOnEach(
  "a client in the process",
  (server) => {
    it("acts with the rights of its user, by username and by id", async () => {
      const { user } = await server().aMember()
      for (const name of [user.username, user.id]) {
        const client = server().atelier.client({ user: name })
        expect(await users.getUser(client, { user: "me" })).toMatchObject({ id: user.id })
        await expect(organizations.createOrganization(client, { body: { name: "x" } })).rejects.toMatchObject({ status: 403 })
      }
      await expect(users.getUser(server().atelier.client({ user: "nobody" }), { user: "me" })).rejects.toMatchObject({ status: 401 })
      await expect(users.getUser(server().atelier.client({ user: "prebuilds" }), { user: "me" })).rejects.toMatchObject({ status: 401 })
    })

    it("watches over events and over WebSockets until its user is suspended", async () => {
      const member = await server().aMember()
      const client = server().atelier.client({ user: member.user.username })
      const { id: workspace } = await aWorkspace(server(), await aTemplate(server()), member)
      for await (const seen of workspaces.watchWorkspace(client, { workspace })) {
        expect(seen.id).toBe(workspace)
        break
      }
      const values = workspaces.watchWorkspaceSocket(client, { workspace }, { reconnect: () => 0 })
      expect((await values.next()).value).toMatchObject({ id: workspace })
      const { token } = server().owner()
      expect((await server().call("PUT", `/users/${member.user.id}/status/suspend`, { token })).status).toBe(200)
      await expect(users.getUser(client, { user: "me" })).rejects.toMatchObject({ status: 401 })
      await expect(
        (async () => {
          for await (const _ of values);
        })()
      ).rejects.toMatchObject({ status: 401 })
    })

    it("is no way in for requests from outside", async () => {
      const { user } = await server().aMember()
      server().atelier.client({ user: user.username })
      expect((await fetch(`${server().url}/api/v2/users/me`)).status).toBe(401)
      const answer = await server().atelier.fetch(new Request("http://atelier.test/api/v2/users/me"))
      expect(answer.status).toBe(401)
    })
  },
  { provisioner: testEngines }
)

it("a WebSocket that is refused to a client in the process keeps the service from no end", async () => {
  const server = await startServer(sqlite, { logLevel: "none", drainTimeout: "1 hour", shutdownTimeout: "2 hours" })
  const { user } = await server.aMember()
  const ended = buildWatches.watchAllWorkspaceBuilds(server.atelier.client({ user: user.username }))
  await expect(ended.next()).rejects.toMatchObject({ status: 403 })
  await server.close()
}, 30_000)
