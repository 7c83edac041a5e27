/** `ssh --stdio`: the bytes of an SSH connection over the program's streams, for OpenSSH's `ProxyCommand`. */
import type { Client } from "@atelier/client"
import * as ssh from "@atelier/client/ssh"
import { join } from "node:path"
import { writeWhole } from "../contexts/wholeFile.js"
import type { Session } from "../Session.js"
import { usage } from "../Failure.js"
import { agentIn, findWorkspace } from "../workspaces/find.js"

/** Bytes of one message. */
const pieceSize = 64 * 1024

/** Where the host key of a host is kept: a file for each, which OpenSSH finds by the host's name. */
export const hostKeyFolder = (directory: string): string => join(directory, "ssh", "hosts")

/** The name of a host in the form of other commands: `agent.workspace.owner` and a suffix that tells the deployment. */
export const workspaceOfHost = (host: string, suffix: string): string => {
  const name = suffix !== "" && host.endsWith(`.${suffix}`) ? host.slice(0, -suffix.length - 1) : host
  const [workspace = "", owner, agent, ...more] = name.split(".").length > 2 ? rotated(name.split(".")) : name.split(".")
  if (workspace === "" || more.length > 0) throw usage(`"${host}": must be WORKSPACE, WORKSPACE.OWNER or AGENT.WORKSPACE.OWNER.`)
  return `${owner === undefined ? "" : `${owner}/`}${workspace}${agent === undefined ? "" : `.${agent}`}`
}

const rotated = ([agent = "", ...rest]: ReadonlyArray<string>): ReadonlyArray<string> => [...rest, agent]

/** Keeps the workspace's host key for OpenSSH, which reads it after the first bytes. */
const keepHostKey = async (client: Client, workspaceagent: string, host: string, { contexts, signal }: Session): Promise<void> => {
  const { public_key } = await ssh.getSshHostKey(client, { workspaceagent }, { signal })
  await writeWhole(join(hostKeyFolder(contexts.directory), host), `${host} ${public_key}\n`)
}

interface StdioInput {
  readonly workspace: string
  readonly suffix: string | undefined
  readonly client: "ssh" | "vscode" | "jetbrains" | undefined
}

export const stdio = async ({ client: kind, suffix, workspace: host }: StdioInput, session: Session): Promise<number> => {
  const { signal, stdin, stdout } = session
  const name = suffix === undefined ? host : workspaceOfHost(host, suffix)
  if (!/^[\w.-]+$/.test(host) && suffix !== undefined) throw usage(`"${host}": is not the name of a host.`)
  const client = await session.liveClient()
  const { id } = agentIn(await findWorkspace(client, name, session), name)
  const [socket] = await Promise.all([
    ssh.openSsh(client, { workspaceagent: id, client: kind }, { signal }),
    suffix === undefined ? undefined : keepHostKey(client, id, host, session)
  ])
  const sending = async (): Promise<void> => {
    for await (const chunk of stdin) {
      const bytes = new Uint8Array(chunk as Buffer)
      for (let at = 0; at < bytes.length; at += pieceSize) {
        socket.send(bytes.subarray(at, at + pieceSize))
        await socket.flushed()
      }
    }
    socket.close()
  }
  sending().catch(() => socket.close())
  for await (const message of socket) {
    if (!stdout.write(message)) await new Promise((resolve) => stdout.once("drain", resolve))
  }
  return 0
}
