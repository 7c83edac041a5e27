/** A real Docker daemon that provisioner daemons in processes of their own offer to a server. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "vitest"
import { aRemoteServer, remoteLife } from "../../provisioner/test/container/remoteLife.js"
import { daemon, giveImage, leftWithPorts, removeAll, skipped } from "./daemon.js"

describe.skipIf(daemon === undefined)(`provisioner daemons with Docker${skipped}`, { timeout: 400_000 }, () => {
  it("go on with workspaces of those that were killed", async () => {
    giveImage("static", "test-static:1")
    const deployment = `remote-${process.pid}`
    const directory = await mkdtemp(join(tmpdir(), "atelier-docker-remote-"))
    const remote = await aRemoteServer()
    try {
      await remoteLife(
        remote,
        {
          image: "test-static:1",
          startLine: "The container of the agent main has been started.",
          args: ["--engine", "docker", "--docker-host", daemon ?? "", "--docker-deployment", deployment],
          left: () => leftWithPorts(deployment),
          homeOf: ({ id }) => `atelier-${id}-main--home`
        },
        directory
      )
    } finally {
      await remote.server.close()
      await removeAll(deployment)
      await rm(directory, { recursive: true, force: true })
    }
  })
})
