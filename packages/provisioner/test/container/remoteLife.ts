/** Workspaces of daemons in processes of their own, whose server has no engine of containers: the same at a Docker daemon and in a cluster. */
import { builds, type Client, provisionerKeys, type Workspace } from "@atelier/client"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"
import { freePort } from "../../../atelier/test/Server.js"
import { build, clientOf, isRunning, templateFrom, untilWorkspace, workspaceFrom } from "../../../atelier/test/Steps.js"
import { patience } from "../../../atelier/test/within.js"
import { type AgentServer, startAgentServer } from "../../../http/test/agents/AgentServer.js"
import { oneDatabase } from "../../../../test/store/databases.js"

const program = fileURLToPath(new URL("../../../atelier/dist/program.cjs", import.meta.url))

/** A server that takes daemons, and a client of its owner. */
export interface RemoteServer {
  readonly server: AgentServer
  readonly client: Client
  readonly port: number
}

/** Starts a server without engines. */
export const aRemoteServer = async (): Promise<RemoteServer> => {
  const [[, database] = []] = oneDatabase
  if (database === undefined) throw new Error("there is no database")
  const port = await freePort()
  const server = await startAgentServer(database, {
    port,
    accessUrl: `http://127.0.0.1:${port}`,
    entitlements: { has: (feature) => feature === "external_provisioner_daemons" }
  })
  return { server, client: clientOf(server.url, server.owner().token), port }
}

export interface RemoteMachine {
  /** An image of busybox. */
  readonly image: string
  /** A line of each start, after which its agent has still to connect. */
  readonly startLine: string
  /** The arguments of a daemon that name its engine. */
  readonly args: ReadonlyArray<string>
  /** The names of all that is left of the workspaces. */
  readonly left: () => Promise<ReadonlyArray<string>>
  /** The name of the home directory's volume. */
  readonly homeOf: (workspace: Workspace) => string
}

/** Daemons of one key, each with a folder and a name of its own. */
const daemonsOf = ({ server }: RemoteServer, { args }: RemoteMachine, directory: string) => {
  const children: Array<ChildProcess> = []
  return {
    start: (name: string, key: string): ChildProcess => {
      const place = ["--url", server.url, "--name", name, "--directory", join(directory, name)]
      const child = spawn(process.execPath, [program, "provisionerd", ...place, ...args], {
        stdio: ["ignore", "inherit", "inherit"],
        env: { PATH: process.env["PATH"], ATELIER_PROVISIONER_KEY: key }
      })
      children.push(child)
      return child
    },
    killAll: () => children.forEach((child) => child.kill("SIGKILL"))
  }
}

const kill = async (child: ChildProcess) => {
  child.kill("SIGKILL")
  await once(child, "exit")
}

/**
 * The life of a workspace whose daemons are killed: between two builds, and in the middle of one. The next daemon goes on with what it finds, and nothing is
 * doubled or left.
 */
export const remoteLife = async (remote: RemoteServer, machine: RemoteMachine, directory: string): Promise<void> => {
  const { client } = remote
  const daemons = daemonsOf(remote, machine, directory)
  try {
    const { key } = await provisionerKeys.createProvisionerKey(client, { organization: "default", body: { name: "far", tags: {} } })
    const first = daemons.start("first", key)
    const template = await templateFrom(client, "far", {
      files: { "template.yaml": `agents: [{ name: main, container: { image: "${machine.image}", memory: 128Mi } }]\n` }
    })
    const workspace = await untilWorkspace(client, (await workspaceFrom(client, template, "far")).id, isRunning)
    const { id } = workspace
    const exec = async (command: string) => (await (await client.sandboxes.get(id)).exec(command)).stdout
    expect(await exec("echo kept > ~/note; cat ~/note")).toBe("kept\n")

    await kill(first)
    const second = daemons.start("second", key)
    await build(client, workspace, "stop")
    await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "stopped")
    expect(await machine.left()).toStrictEqual([machine.homeOf(workspace)])

    const signal = AbortSignal.timeout(patience)
    const { id: workspacebuild } = await build(client, workspace, "start")
    for await (const { output } of builds.followWorkspaceBuildLogs(client, { workspacebuild }, { signal }))
      if (output.includes(machine.startLine)) break
    await kill(second)
    daemons.start("third", key)
    await untilWorkspace(client, id, isRunning)
    expect(await exec("cat ~/note")).toBe("kept\n")
    await build(client, workspace, "delete")
    await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "deleted")
    expect(await machine.left()).toStrictEqual([])
  } finally {
    daemons.killAll()
  }
}
