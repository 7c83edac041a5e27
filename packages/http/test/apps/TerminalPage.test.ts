import { UserRepository } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { describeAgentInterface } from "../agents/AgentServer.js"

describeAgentInterface("the page of a terminal", (server) => {
  const get = (path: string, token = "") => server().call("GET", `/${path}`, { headers: { cookie: `service_session_token=${token}` } })

  it("names the agent to its script, for those who may see the workspace", async () => {
    const ann = await server().aMember()
    const agent = await server().anAgent({}, ann)
    const path = `/@${ann.user.username}/${agent.workspace.name}`
    const shown = await get(`${path}/terminal`, ann.token)
    expect(shown.status).toBe(200)
    expect(shown.text).toContain(`data-agent="${agent.id}"`)
    expect(shown.text).toContain(`<title>${ann.user.username}/${agent.workspace.name}.main · Atelier</title>`)
    expect(shown.headers.get("content-security-policy")).toContain("script-src 'self';")
    // By which its script tells the service's answers from a proxy's
    expect([...shown.headers.keys()]).toContainEqual(expect.stringMatching(/-build-version$/))
    const statuses = [
      `${path}.main/terminal`,
      `${path}.none/terminal`,
      `${path}.main.main/terminal`,
      `/@${ann.user.username}/none/terminal`
    ]
    expect(await Promise.all(statuses.map(async (address) => (await get(address, ann.token)).status))).toStrictEqual([200, 404, 404, 404])
    expect((await get(`${path}/terminal`, (await server().aMember()).token)).status).toBe(404)
    const anonymous = await get(`${path}/terminal?command=a%20b`)
    const redirect = new URLSearchParams({ redirect: `${path}/terminal?command=a%20b` })
    expect([anonymous.status, anonymous.headers.get("location")]).toStrictEqual([303, `/login?${redirect}`])
  })

  it("loads its files from the service alone", async () => {
    const script = "text/javascript; charset=utf-8"
    for (const [name, type] of [
      ["terminal.js", script],
      ["xterm.mjs", script],
      ["addon-fit.mjs", script],
      ["xterm.css", "text/css; charset=utf-8"]
    ] as const) {
      const file = await get(`/terminal/${name}`)
      expect([name, file.status, file.headers.get("content-type")]).toStrictEqual([name, 200, type])
      expect(file.text).not.toMatch(/from\s*["']https?:/)
    }
    expect((await get("/terminal/package.json")).status).toBe(404)
    expect((await get("/terminal/..%2fpackage.json")).status).toBe(404)
  })
})

describeAgentInterface(
  "the page of a terminal, where a host knows who is signed in",
  (server) => {
    it("is shown to the host's users, and refused to others without a page to sign in on", async () => {
      const headers = { cookie: "host_session=1" }
      const { id } = (await server().call("GET", "/users/me", { headers })).as(Schema.Struct({ id: Uuid.Uuid }))
      const found = await server().store(Effect.flatten(Effect.flatMap(UserRepository, (users) => users.byId(id))))
      const agent = await server().anAgent({}, { user: found, token: "" })
      const path = `//@${found.username}/${agent.workspace.name}/terminal`
      const shown = await server().call("GET", path, { headers })
      expect([shown.status, shown.text.includes(`data-agent="${agent.id}"`)]).toStrictEqual([200, true])
      expect((await server().call("GET", "//terminal/terminal.js")).status).toBe(200)
      const statuses = [path, "//login", "//setup", "//cli-auth"].map(async (page) => (await server().call("GET", page)).status)
      expect(await Promise.all(statuses)).toStrictEqual([401, 404, 404, 404])
    })
  },
  {
    authenticate: ({ headers }) =>
      headers.get("cookie") === "host_session=1" ? { subject: "1", email: "ada@host.test", email_verified: true, username: "ada" } : null
  }
)
