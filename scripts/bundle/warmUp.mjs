// Starts the standalone server on a PostgreSQL that is not there, which it finds out, and then on a database in a file that another process has made, as most
// starts do. Keeps the code that V8 compiled for it. `node warmUp.mjs FILE`
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { setFlagsFromString } from "node:v8"
import { cacheOf, kept, load } from "./load.mjs"
import { createRequireBeside } from "./ownFiles.mjs"

/** Milliseconds from the start of the first server to its end, on a busy machine. */
const longestFirstServer = 120_000

const [, , file] = process.argv
const url = pathToFileURL(file)
const directory = await mkdtemp(join(tmpdir(), "atelier-warm-up-"))
const options = ["--http-address", "127.0.0.1:0", "--data-directory", directory, "--log-level", "error", "--database"]
const database = `sqlite:${join(directory, "atelier.db")}`
const serve = (database) => exports.run(["serve", ...options, database])
const { resolve } = createRequireBeside(url.href)(url.href)
const { exports, script } = load(url, { url: url.href, resolve: (name) => pathToFileURL(resolve(name)).href })

const first = spawn(process.execPath, [fileURLToPath(new URL("program.cjs", url)), "serve", ...options, database], {
  stdio: ["ignore", "pipe", "inherit"],
  timeout: longestFirstServer,
  killSignal: "SIGKILL"
})
const firstEnd = once(first, "exit")
await Promise.race([firstEnd, once(first.stdout, "data")])
first.kill("SIGINT")
const [code, signal] = await firstEnd
if (code !== 0) throw new Error(`the first server ended with ${code ?? signal}`)

const { write } = process.stderr
process.stderr.write = () => true
if ((await serve("postgres://nobody@127.0.0.1:1/none")) === 0) throw new Error("a PostgreSQL answers on port 1")
process.stderr.write = write

/** What the server prints once it answers. */
const greeted = new Promise((resolve) => {
  process.stdout.write = (text) => {
    const address = /^Atelier listens on (\S+)/m.exec(text)?.[1]
    if (address !== undefined) resolve(address)
    return true
  }
})
const served = serve(database)
const ended = served.then((code) => {
  throw new Error(`the server ended with ${code}`)
})
const address = await Promise.race([greeted, ended])
await (await fetch(`${address}/api/v2/buildinfo`, { headers: { connection: "close" } })).text()
// V8 accepts compiled code only under the flags with which it was serialized: a start begins with V8's own
setFlagsFromString("--allocation-site-pretenuring")
await writeFile(cacheOf(url), kept(url, script.createCachedData()))
process.kill(process.pid, "SIGINT")
const exitCode = await served
await rm(directory, { recursive: true, force: true })
process.exit(exitCode)
