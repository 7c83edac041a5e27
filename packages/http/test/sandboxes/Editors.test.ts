/** What editors do with OpenSSH when they first connect to a host, and when they come back. */
import { randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { describeAgents } from "../agents/AgentServer.js"
import { link } from "../network/linkedAgents.js"
import { freePort, has, openSsh, received, throughSocks } from "./openSsh.js"

const isHere = has("ssh") && has("tar")

/** An editor's server: it listens on a port, or on a socket, and says so in its log. */
const program = `
  import { createServer } from "node:net"
  const server = createServer((socket) => socket.end("editor " + process.pid))
  server.listen(process.argv[2] ?? { port: 0, host: "127.0.0.1" }, () => console.log("listening on", server.address().port ?? process.argv[2]))
`

/** The script that the editor runs: it unpacks the server unless it is there, starts it unless it runs, and tells where it listens. */
const script = (folder: string, socket = ""): string => `
  set -eu
  cd ${folder}
  echo "uname==$(uname -s)=="
  if [ ! -f server/main.mjs ]; then mkdir -p server; tar -xzf server.tar.gz -C server; echo "unpacked"; fi
  if [ -f pid ] && kill -0 "$(cat pid)" 2>/dev/null; then echo "found"
  else
    nohup ${process.execPath} server/main.mjs ${socket} > log 2>&1 < /dev/null &
    echo $! > pid
    echo "started"
  fi
  until grep -q "listening on" log; do sleep 0.05; done
  echo "listeningOn==$(sed -n 's/listening on //p' log)=="
`

/** The archive of the editor's server, beside what it is made of. */
const pack = async (folder: string, run: (program: string, args: ReadonlyArray<string>) => Promise<unknown>, size = 0): Promise<string> => {
  writeFileSync(join(folder, "main.mjs"), program)
  writeFileSync(join(folder, "ballast"), randomBytes(size))
  await run("tar", ["-czf", "packed.tar.gz", "main.mjs", "ballast"])
  onTestFinished(() => {
    process.kill(Number(readFileSync(join(folder, "pid"), "utf8")), "SIGKILL")
  })
  return join(folder, "packed.tar.gz")
}

const listeningOn = /listeningOn==(.+)==/

describeAgents("editors", (server) => {
  it.skipIf(!isHere)("start their server by a script, reach it by SOCKS, and find it again", async () => {
    const agent = await server().anAgent()
    const first = await link(server(), agent, undefined, undefined, undefined, false)
    const { base, folder, run, start } = openSsh(server(), agent, server().owner().token, "?client=vscode")
    const archive = await pack(folder, run)
    await run("scp", [...base, archive, `workspace:${folder}/server.tar.gz`])
    const connect = async () => {
      const socks = await freePort()
      const ssh = start("ssh", [...base, "-T", "-D", `${socks}`, "-o", "ConnectTimeout=15", "workspace", "sh"])
      // Its input stays open, as the editor's does
      ssh.child.stdin.write(script(folder))
      const output = await ssh.until(listeningOn)
      return { ...ssh, output, socks, port: Number(listeningOn.exec(output)?.[1]) }
    }
    const one = await connect()
    expect(one.output).toMatch(/uname==\w+==\nunpacked\nstarted\n/)
    const greeting = await throughSocks(one.socks, one.port)
    expect(greeting).toMatch(/^editor \d+$/)

    // The user's machine goes to sleep, or its network changes
    one.child.kill("SIGKILL")
    await one.ended
    const two = await connect()
    expect(two.output).toMatch(/==\nfound\n/)
    expect(await throughSocks(two.socks, two.port)).toBe(greeting)

    // The agent reconnects to the server
    await first.close()
    expect(await two.ended).toMatchObject({ code: 255 })
    await link(server(), agent)
    const three = await connect()
    expect(three.output).toMatch(/==\nfound\n/)
    expect(await throughSocks(three.socks, three.port)).toBe(greeting)
  })

  it.skipIf(!isHere)("upload a large server by SFTP, and reach its socket by a forward", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const { base, folder, run, ssh, start } = openSsh(server(), agent, server().owner().token, "?client=jetbrains")
    const size = 30_000_000
    const archive = await pack(folder, run, size)
    writeFileSync(
      join(folder, "batch"),
      [`cd ${folder}`, `put ${archive} part`, "rename part server.tar.gz", "ls -l server.tar.gz"].join("\n")
    )
    const { stdout } = await run("sftp", [...base, "-b", "batch", "workspace"])
    expect(Number(/ (\d{8}) .*server\.tar\.gz/.exec(stdout)?.[1])).toBe(readFileSync(archive).length)
    const socket = join(folder, "socket")
    expect(await ssh(["workspace", "sh"], script(folder, socket))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`listeningOn==${socket}==`)
    })
    expect(readFileSync(join(folder, "server", "ballast")).length).toBe(size)
    const local = await freePort()
    const forward = start("ssh", [...base, "-N", "-L", `${local}:${socket}`, "workspace"])
    await expect.poll(() => received(local).catch(() => ""), { interval: 50 }).toMatch(/^editor \d+$/)
    forward.child.kill()
    expect(await forward.ended).toMatchObject({ stderr: "" })
  })
})
