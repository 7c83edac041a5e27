import type { AddressInfo } from "node:net"
import { createServer } from "node:http"
import { once } from "node:events"
import { expect, it } from "vitest"
import { start } from "../src/app.js"

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

it("serves the application's routes and, below its prefix, the whole interface", async () => {
  const port = await freePort()
  const { dispose } = await start(port, ":memory:")
  const at = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  try {
    expect(await (await at("/")).text()).toBe("the application's own page")
    const buildInfo = await at("/workspaces/api/v2/buildinfo")
    expect(await buildInfo.json()).toMatchObject({ dashboard_url: `http://127.0.0.1:${port}/workspaces` })
    expect((await at("/workspaces/api/v2/users/first")).status).toBe(404)
    const first = { email: "ada@example.com", username: "ada", password: "correct horse battery" }
    const created = await fetch(`http://127.0.0.1:${port}/workspaces/api/v2/users/first`, { method: "POST", body: JSON.stringify(first) })
    expect(created.status).toBe(201)
    expect((await at("/api/v2/buildinfo")).status).toBe(404)
  } finally {
    await dispose()
  }
})
