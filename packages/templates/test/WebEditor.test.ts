/** The script of the starter template `web-editor`. The registry's npm and the editor stand outside: small programs take their places. */
import { spawn } from "node:child_process"
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, it } from "vitest"

const script = fileURLToPath(new URL("../starters/web-editor/start.sh", import.meta.url))

/** An npm whose only package is an editor that answers, and that says how often it was asked. */
const npm = `#!/bin/sh
echo asked >> "$HOME/asked"
[ "$3" = "$HOME/editor/4.100.3" ] || exit 1
mkdir -p "$3/node_modules/.bin"
cat > "$3/node_modules/.bin/code-server" << 'END'
#!${process.execPath}
require("http").createServer((_, response) => response.end()).listen(process.env.PORT, "127.0.0.1")
END
chmod +x "$3/node_modules/.bin/code-server"
`

/** A Node of version 20, which is what counts of it here. */
const node = (major: number) => `#!/bin/sh\n[ "$1" = -p ] && echo ${major} || exec ${process.execPath} "$@"\n`

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "atelier-editor-"))
  await mkdir(join(home, "bin"))
  await mkdir(join(home, "editor"))
  await symlink(script, join(home, "editor/start.sh"))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const start = async (programs: Readonly<Record<string, string>>, port = 1) => {
  for (const [name, text] of Object.entries(programs)) await writeFile(join(home, "bin", name), text, { mode: 0o755 })
  const env = { HOME: home, PORT: String(port), PATH: `${join(home, "bin")}${delimiter}/usr/bin${delimiter}/bin` }
  const child = spawn("sh", [join(home, "editor/start.sh")], { env, cwd: home, detached: true })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (output += bytes.toString()))
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve))
  return { code, output, end: () => process.kill(-(child.pid ?? 0), "SIGKILL") }
}

it("installs the editor of the workspace's Node once, and waits until it answers", async () => {
  const port = await freePort()
  const first = await start({ npm, node: node(20) }, port)
  expect(first).toMatchObject({ code: 0, output: expect.stringMatching(/^Installing code-server 4\.100\.3[^]*The editor is up\n$/) })
  first.end()
  const second = await start({}, port)
  expect(second).toMatchObject({ code: 0, output: expect.not.stringContaining("Installing") })
  second.end()
})

it("says what is missing", async () => {
  expect(await start({ npm, node: node(21) })).toMatchObject({
    code: 1,
    output: "The editor needs Node.js 20, 22 or 24, and the workspace has 21.\n"
  })
  expect(await start({ npm: "#!/bin/sh\necho no compiler\nexit 1\n", node: node(22) })).toMatchObject({
    code: 1,
    output: expect.stringMatching(/no compiler\ncode-server 4\.108\.2 cannot be installed\. It needs python3/)
  })
})
