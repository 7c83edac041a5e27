import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { describeInterface, type Person, type TestServer } from "../../../../../test/http/server.js"

const path = "/api/experimental/watch-all-workspacebuilds"

/** The stream of all builds: whether it opened, and how it is closed. */
const watch = (server: TestServer, { token }: Person) => {
  const socket = new WebSocket(server.url.replace("http", "ws") + path, { headers: { "Service-Session-Token": token } })
  const closed = new Promise<{ readonly code: number; readonly reason: string }>((resolve) =>
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }))
  )
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
      const setRoles = (roles: ReadonlyArray<string>) =>
        server().call("PUT", `/users/${person.user.id}/roles`, { token: server().owner().token, body: { roles } })
      // Judged with the options of the server, the right outlives changes that leave the role
      await setRoles(["template-admin", "auditor"])
      await setRoles([])
      expect(await closed).toStrictEqual({ code: 1008, reason: "Forbidden" })
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
