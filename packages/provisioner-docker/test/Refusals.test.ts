/** What users are told of templates and builds that a server cannot run. No daemon is needed. */
import type { Client } from "@atelier/client"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freePort, Server } from "../../atelier/test/Server.js"
import { firstClient, templateFrom } from "../../atelier/test/Steps.js"

describe("a server whose Docker daemon is away", () => {
  let server: Server
  let client: Client
  let directory: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "atelier-docker-refusals-"))
    server = await Server.start({
      port: await freePort(),
      database: `sqlite:${join(directory, "atelier.db")}`,
      workspacesDirectory: join(directory, "workspaces"),
      args: ["--engines=local,docker", `--docker-host=unix://${directory}/none.sock`]
    })
    client = await firstClient(server.url)
  }, 60_000)

  afterAll(async () => {
    await server?.kill()
    await rm(directory, { recursive: true, force: true })
  })

  it("imports templates, and names the daemon when a workspace is built", async () => {
    await templateFrom(client, "away", { files: { "template.yaml": "agents:\n  - name: main\n    container: { image: 'node:22' }\n" } })
    await expect(client.sandboxes.create({ template: "away" })).rejects.toThrow(
      `the Docker daemon at unix://${directory}/none.sock cannot be reached`
    )
  })

  it("says how to enable the engine of a template, with file and line", async () => {
    const source = 'engine: kubernetes\nagents: [{ name: main, container: { image: "node:22" } }]\n'
    await expect(templateFrom(client, "cluster", { files: { "template.yaml": source } })).rejects.toThrow(
      'template.yaml:1:9: engine: no engine of this server is called "kubernetes"; the operator adds kubernetes to the server\'s option --engines'
    )
  })
})
