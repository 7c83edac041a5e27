/** The client on the versions of Node that the project supports. `ATELIER_RUNTIMES` names further programs, such as those of Deno and Bun. */
import { build } from "esbuild"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createServer, type IncomingMessage } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { WebSocketServer } from "ws"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const run = promisify(execFile)

const program = `
import { createClient } from "@atelier/client"
import * as users from "@atelier/client/users"
import * as workspaces from "@atelier/client/workspaces"

const client = createClient({ baseUrl: process.argv[2], token: "secret" })
const said = []
said.push((await users.getUser(client, { user: "me" })).username)
for (const watch of [workspaces.watchWorkspace, workspaces.watchWorkspaceSocket]) {
  try {
    for await (const { name } of watch(client, { workspace: "w" })) {
      said.push(name)
      break
    }
  } catch (error) {
    said.push(error.message)
  }
}
said.push((await users.getUser(client, { user: "missing" }).catch((error) => error)).status)
console.log(JSON.stringify(said))
`

let folder: string
let url: string
/** How WebSockets were asked for, the last one last. */
const upgrades: Array<IncomingMessage> = []

const sockets = new WebSocketServer({ noServer: true })
const server = createServer((request, response) => {
  if (request.url?.endsWith("/watch")) response.writeHead(200).write('event: data\ndata: {"name":"by events"}\n\n')
  else if (request.url?.endsWith("/me")) response.end('{"username":"ada"}')
  else response.writeHead(404).end('{"message":"missing"}')
})
server.on("upgrade", (request, socket, head) => {
  upgrades.push(request)
  sockets.handleUpgrade(request, socket, head, (webSocket) => webSocket.send('{"type":"data","data":{"name":"by socket"}}'))
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "atelier-client-"))
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents: program, resolveDir: root },
    bundle: true,
    write: false,
    platform: "browser",
    format: "esm",
    conditions: ["atelier-source"]
  })
  await writeFile(join(folder, "program.mjs"), outputFiles[0]?.contents ?? "")
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  url = `http://127.0.0.1:${address.port}`
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true, force: true })
})

/** The programs that run the client, by name. `scripts/install.mjs --nodes` installs the versions of Node. */
const runtimes = [
  ["this Node.js", process.execPath],
  ...Object.entries(JSON.parse(await readFile(join(root, "test/nodes/package.json"), "utf8")).dependencies).map(([name, source]) => [
    `Node.js ${String(source).replace(/^.*@/, "")}`,
    join(root, "test/nodes/node_modules", name, "bin/node")
  ]),
  ...(process.env["ATELIER_RUNTIMES"] ?? "").split(":").flatMap((path) => (path === "" ? [] : [[path, path]]))
]

const noSocket = 'This platform has no WebSocket: give createClient the option `WebSocket`, such as the class of the package "ws".'

describe("the client", () => {
  it.for(runtimes.filter(([name]) => !name?.startsWith("Node.js 14")))(
    "calls, watches and fails on %s",
    async ([name = "", path = ""], test) => {
      const { stdout: version } = await run(path, ["--version"]).catch(() => ({ stdout: "" }))
      test.skip(version === "", `${name} is not installed`)
      const permissions = version.startsWith("deno") ? ["run", "--allow-net"] : []
      const { stdout } = await run(path, [...permissions, join(folder, "program.mjs"), url])
      const hasSocket = !version.startsWith("v20.")
      expect(JSON.parse(stdout)).toStrictEqual(["ada", "by events", hasSocket ? "by socket" : noSocket, 404])
      // No platform but browsers has to put the token into the address
      if (hasSocket) {
        expect(upgrades.at(-1)?.headers["service-session-token"]).toBe("secret")
        expect(upgrades.at(-1)?.url).toBe("/api/v2/workspaces/w/watch-ws")
      }
    }
  )
})
