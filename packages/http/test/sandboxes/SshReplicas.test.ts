/** OpenSSH at one server of a deployment, and the agent at another. */
import { createServer } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { link, program } from "../network/linkedAgents.js"
import { startTwoServers, type TwoServers } from "../network/twoServers.js"
import { add, client } from "./gatewayClient.js"
import { freePort, has, openSsh, received, throughSocks } from "./openSsh.js"

const isHere = has("ssh") && has("ssh-agent")

let servers: TwoServers
beforeAll(async () => {
  if (isHere) servers = await startTwoServers()
})
afterAll(() => servers?.close())

/** A workspace whose agent is connected to the far server, and OpenSSH with the near one. */
const farWorkspace = async (query?: string) => {
  const { far, near } = servers
  const agent = await near.anAgent({}, near.owner())
  await link(far, agent)
  return { agent, ...openSsh(near, agent, near.owner().token, query) }
}

it.skipIf(!isHere)("programs of the workspace use the keys of the client's agent", async () => {
  const { env, folder, run, start, base } = await farWorkspace()
  const socket = join(folder, "agent")
  const agent = start("ssh-agent", ["-D", "-a", socket])
  await agent.until(/SSH_AUTH_SOCK/)
  await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "of the client", "-f", join(folder, "key")])
  const own = { env: { ...env, SSH_AUTH_SOCK: socket } }
  const added = start("ssh-add", [join(folder, "key")], own)
  expect(await added.ended).toMatchObject({ code: 0 })
  const command = "ssh-add -l && stat -c %a $SSH_AUTH_SOCK && ssh-add -l | wc -l"
  const asked = start("ssh", [...base, "-A", "workspace", command], own)
  expect(await asked.ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/of the client \(ED25519\)\n600\n1\n$/) })
  const without = start("ssh", [...base, "workspace", "echo [$SSH_AUTH_SOCK]"], own)
  expect(await without.ended).toMatchObject({ stdout: "[]\n" })
})

it.skipIf(!isHere)("leads sockets in both directions, and any port by SOCKS", async () => {
  const { base, folder, start } = await farWorkspace()
  const path = (name: string): string => join(folder, name)
  const server = createServer((socket) => socket.end("by a socket"))
  await new Promise<void>((resolve) => server.listen(path("target"), resolve))
  const [port, socks] = [await program((socket) => socket.end("by a port")), await freePort()]
  const forwards = ["-L", `${path("local")}:${path("target")}`, "-R", `${path("remote")}:${path("target")}`, "-D", `${socks}`]
  const { child, ended, until } = start("ssh", [...base, ...forwards, "workspace", `echo up; cat; stat -c %a ${path("remote")}`])
  await until(/up/)
  expect(await Promise.all([received(path("local")), received(path("remote"))])).toStrictEqual(["by a socket", "by a socket"])
  expect(await Promise.all([throughSocks(socks, port), throughSocks(socks, await freePort())])).toStrictEqual(["by a port", ""])
  child.stdin.end()
  expect(await ended).toMatchObject({ code: 0, stdout: "up\n600\n" })
  server.close()
})

it.skipIf(!isHere)("shares one connection among sessions, whose forwards come and go", async () => {
  const { base, folder, start, ssh } = await farWorkspace()
  const control = ["-S", join(folder, "control")]
  const master = start("ssh", [...base, ...control, "-M", "workspace", "echo up; cat"])
  await master.until(/up/)
  const sessions = Array.from({ length: 8 }, (_, index) =>
    ssh([...control, "-o", "ProxyCommand=false", "workspace", `cat; exit ${index}`], `${index}`)
  )
  expect((await Promise.all(sessions)).map(({ code, stdout }) => [code, stdout])).toStrictEqual(
    sessions.map((_, index) => [index, `${index}`])
  )
  const [target, remote] = [await program((socket) => socket.end("here")), await freePort()]
  const forward = ["-R", `${remote}:127.0.0.1:${target}`, "workspace"]
  expect(await ssh([...control, "-O", "forward", ...forward])).toMatchObject({ code: 0 })
  expect(await received(remote)).toBe("here")
  expect(await ssh([...control, "-O", "cancel", ...forward])).toMatchObject({ code: 0 })
  await expect.poll(() => received(remote).catch(() => "gone")).toBe("gone")
  expect(await ssh([...control, "-O", "exit", "workspace"])).toMatchObject({ code: 0 })
  expect(await master.ended).toMatchObject({ signal: null })
})

it.skipIf(!isHere)("answers a client that asks whether it is there", async () => {
  const { ssh } = await farWorkspace()
  const asking = ["-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1"]
  expect(await ssh([...asking, "workspace", "sleep 2.2; echo there"])).toMatchObject({ code: 0, stdout: "there\n" })
})

it.skipIf(!isHere)("logs a connection as what its client is", async () => {
  const { near } = servers
  const { agent, ssh } = await farWorkspace("?client=vscode")
  const log = async () => {
    const path = `/connectionlog?limit=10&offset=0&q=workspace_id:${agent.workspace.id}`
    const { body } = await near.call("GET", path, { token: near.owner().token })
    return (body as { readonly connection_logs: ReadonlyArray<object> }).connection_logs
  }
  expect(await ssh(["workspace", "true"])).toMatchObject({ code: 0 })
  await expect.poll(log, { interval: 50 }).toMatchObject([{ type: "vscode", ssh_info: { disconnect_time: expect.any(String) } }])
})

it.skipIf(!isHere)("leads clients of the gateway to an agent of the other server", async () => {
  const { near } = servers
  const { agent } = await farWorkspace()
  const { publicKey, ssh } = await client(near, agent)
  expect(await add(near, near.owner(), publicKey)).toMatchObject({ status: 201 })
  expect(await ssh([`${agent.workspace.name}@127.0.0.1`, "cat; exit 3"], "in\n")).toMatchObject({ code: 3, stdout: "in\n" })
})

it.skipIf(!isHere)("ends when the server of either side ends", async () => {
  const { loseFar, near } = servers
  const far = await farWorkspace()
  const up = ["workspace", "echo up; exec sleep 1000"]
  const over = far.start("ssh", [...far.base, ...up])
  await over.until(/up/)
  await loseFar()
  expect(await over.ended).toMatchObject({ code: 255 })
  const agent = await near.anAgent()
  await link(near, agent)
  const { base, start } = openSsh(near, agent)
  const last = start("ssh", [...base, ...up])
  await last.until(/up/)
  await near.atelier.dispose()
  expect(await last.ended).toMatchObject({ code: 255, stderr: expect.stringContaining("closed with 1012") })
})
