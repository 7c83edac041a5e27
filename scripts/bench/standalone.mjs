// The standalone server with its own agents, as people run it.
import { createClient, logins, provisioning, templates, templateVersions, users } from "@atelier/client"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { buffer } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { pack } from "tar-stream"
import { WebSocket } from "ws"
import { flagsOf } from "../flags.mjs"

const checkout = new URL("../../", import.meta.url)
const program = fileURLToPath(new URL("packages/atelier/dist/program.cjs", checkout))
const account = { email: "admin@example.com", password: "SomeSecurePassword!" }

/** Starts the standalone server on an empty database, and makes its first user, who owns the deployment. */
export const startStandalone = async ({ kind, location }, directory, { args = [], nodeArguments = [] } = {}) => {
  const database = kind === "postgres" ? location : `sqlite:${location}`
  const place = ["--http-address", "127.0.0.1:0", "--database", database, "--workspaces-directory", join(directory, "workspaces")]
  const options = [...place, "--dangerous-disable-rate-limits", ...args]
  const child = spawn(process.execPath, [...flagsOf(checkout), ...nodeArguments, program, ...options], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const url = await new Promise((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const found = /^Atelier listens on (http:\/\/[\d.:]+)/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)))
  })
  const anonymous = createClient({ baseUrl: url })
  await users.createFirstUser(anonymous, { body: { ...account, username: "admin" } })
  const { session_token: token } = await logins.logIn(anonymous, { body: account })
  return {
    url,
    token,
    client: createClient({ baseUrl: url, token, WebSocket }),
    pid: child.pid,
    /** Resident bytes of the server. */
    memory: async () => 1024 * Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, "utf8"))[1]),
    stop: async () => {
      const exited = once(child, "exit")
      child.kill("SIGINT")
      await exited
    }
  }
}

const archiveOf = (files) => {
  const archive = pack()
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, content)
  archive.finalize()
  return buffer(archive)
}

/** Makes a template of files, by their names. */
export const importTemplate = async (client, name, files) => {
  const { hash: file_id } = await provisioning.uploadFile(client, { contentType: "application/x-tar", body: await archiveOf(files) })
  const version = await templateVersions.createTemplateVersion(client, {
    organization: "default",
    body: { storage_method: "file", provisioner: "terraform", file_id }
  })
  for await (const _ of templateVersions.followTemplateVersionLogs(client, { templateversion: version.id }));
  return templates.createTemplate(client, { organization: "default", body: { name, template_version_id: version.id } })
}
