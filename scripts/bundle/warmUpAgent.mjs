// Has an agent start in a workspace, run a command and keep a file there. At its end it keeps the code that V8 compiled for this. Code of all functions would
// be twice as much to read at each start. `node warmUpAgent.mjs FILE`
import { createClient, users } from "@atelier/client"
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Sqlite } from "@atelier/storage-sqlite"
import { starterTemplates } from "@atelier/templates"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { cacheOf } from "./load.mjs"

const [, , file] = process.argv
const keepCode = fileURLToPath(new URL("keepCode.mjs", import.meta.url))
const directory = await mkdtemp(join(tmpdir(), "atelier-warm-up-"))
const server = createServer().listen(0, "127.0.0.1")
await once(server, "listening")
const accessUrl = `http://127.0.0.1:${server.address().port}`
const atelier = await Atelier.make({
  accessUrl,
  storage: Sqlite.layer({ filename: ":memory:" }),
  provisioner: LocalProvisioner.layer({
    directory: join(directory, "workspaces"),
    agent: { command: [process.execPath, keepCode, file] }
  }),
  starterTemplates: starterTemplates()
})
server.on("request", atelier.handler).on("upgrade", atelier.upgrade)
const username = "builder"
const body = { email: "builder@example.com", username, password: "Passes-only-here-1" }
await users.createFirstUser(createClient({ baseUrl: accessUrl }), { body })
const sandbox = await atelier.client({ user: username }).sandboxes.create({ template: "shell" })
await sandbox.files.write("greeting", "hello")
await sandbox.exec(["true"])
await sandbox.exec("cat greeting")
await sandbox.files.read("greeting")
await sandbox.delete({ wait: true })
server.close()
await atelier.dispose()
await rm(directory, { recursive: true, force: true })
if (!existsSync(cacheOf(pathToFileURL(file)))) throw new Error("the agent has kept no code")
