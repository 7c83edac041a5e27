import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { describeInterface, type Person, type TestServer } from "../../../../../test/http/server.js"

const path = "/api/experimental/watch-all-workspacebuilds"

/** The stream of all builds: whether it opened, and the code it is closed with. */
const watch = (server: TestServer, { token }: Person) => {
  const socket = new WebSocket(server.url.replace("http", "ws") + path, { headers: { "Service-Session-Token": token } })
  const closed = new Promise<number>((resolve) => socket.on("close", resolve))
  const opened = new Promise<number>((resolve) => {
    socket.on("open", () => resolve(101))
    socket.on("error", () => {})
    socket.on("unexpected-response", (_, response) => resolve(response.statusCode ?? 0))
  })
  return { opened, closed }
}

describeInterface(
  "the stream of all builds",
  (server) => {
    it("is refused to those who may not read every workspace", async () => {
      const { opened } = watch(server(), await server().aMember())
      expect(await opened).toBe(403)
    })

    it("ends with the role that lets an administrator have it", async () => {
      const person = await server().aMember({ rbac_roles: ["template-admin"] })
      const { closed, opened } = watch(server(), person)
      expect(await opened).toBe(101)
      await server().call("PUT", `/users/${person.user.id}/roles`, { token: server().owner().token, body: { roles: [] } })
      expect(await closed).toBe(1008)
    })
  },
  { options: { experiments: ["workspace-build-updates"] } }
)

describeInterface("the stream of all builds without its experiment", (server) => {
  it("is refused to the owner", async () => {
    const { opened } = watch(server(), server().owner())
    expect(await opened).toBe(403)
  })
})
