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
    expect(shown.headers.get("content-security-policy")).toContain("script-src 'self';")
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
