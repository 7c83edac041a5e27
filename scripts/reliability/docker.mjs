// Measures what kill -9 costs workspaces in Docker: `npm run build && node scripts/reliability/docker.mjs --host unix:///var/run/docker.sock --image IMAGE
// [--kills 50] [--workspaces 4] [--lifetime 12000] [--postgres]`. IMAGE needs a shell, and the daemon has to have it.
// Workspaces are created, stopped, started and deleted without pause while the server is killed again and again. Images of some are built. Afterwards every
// build that was accepted has to have ended, and none may have failed but for those that four servers were lost with. Each workspace that runs has one container, of its latest build. Once all are
// deleted, nothing of them may be left at the daemon. Exits with 1 otherwise.
import { execFile } from "node:child_process"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs, promisify } from "node:util"
import { killBuilds } from "./lives.mjs"
import { freePort, startPostgres } from "./server.mjs"

const { values } = parseArgs({
  options: {
    host: { type: "string", default: "unix:///var/run/docker.sock" },
    image: { type: "string" },
    kills: { type: "string", default: "50" },
    workspaces: { type: "string", default: "4" },
    lifetime: { type: "string", default: "12000" },
    postgres: { type: "boolean", default: false }
  }
})
if (values.image === undefined) throw new Error("--image names an image with a shell")
const deployment = `kills-${process.pid}`

const docker = async (...args) => {
  const { stdout } = await promisify(execFile)("docker", ["--host", values.host, ...args], { maxBuffer: 2 ** 26 })
  return stdout.split("\n").filter(Boolean)
}
const ours = (...filters) => [`label=atelier.dev/deployment=${deployment}`, ...filters].flatMap((filter) => ["--filter", filter])
const containersOf = (...filters) => docker("ps", "--all", ...ours(...filters), "--format", "{{.Names}}")
const volumesOf = (...filters) => docker("volume", "ls", ...ours(...filters), "--format", "{{.Name}}")

const folder = await mkdtemp(join(tmpdir(), "atelier-docker-kills-"))
await chmod(folder, 0o755)
const postgres = values.postgres ? await startPostgres(folder) : undefined
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const options = {
  "http-address": `127.0.0.1:${port}`,
  database: postgres?.url ?? `sqlite:${join(folder, "atelier.db")}`,
  "workspaces-directory": join(folder, "workspaces"),
  "log-level": "error",
  engines: "docker",
  "docker-host": values.host,
  "docker-deployment": deployment
}
/** The step of a Dockerfile that no other process of the daemon has. */
const step = `sleep 0.5${process.pid}`
const container = (lines) => `engine: docker\nagents:\n  - name: main\n    container:\n${lines.map((line) => `      ${line}\n`).join("")}`
const sources = {
  pulled: { "template.yaml": container([`image: ${values.image}`]) },
  built: {
    "template.yaml": container(["build: { context: image, args: { name: '${workspace.name}' } }"]),
    "image/Dockerfile": `FROM ${values.image}\nARG name\nRUN ${step}; echo $name > /name\n`
  }
}

const removeAll = async () => {
  const containers = await containersOf()
  if (containers.length > 0) await docker("rm", "--force", "--volumes", ...containers)
  const volumes = await volumesOf()
  if (volumes.length > 0) await docker("volume", "rm", "--force", ...volumes)
  const images = await docker("images", "--quiet", ...ours())
  if (images.length > 0) await docker("rmi", "--force", ...new Set(images))
}

const ofWorkspaces = "label=atelier.dev/workspace-id"

let isWell = false
try {
  isWell = await killBuilds({
    url,
    options,
    kills: Number(values.kills),
    count: Number(values.workspaces),
    lifetime: Number(values.lifetime),
    sources,
    title: values.postgres ? "PostgreSQL" : "SQLite",
    found: (id) => docker("ps", "--all", ...ours(`${ofWorkspaces}=${id}`), "--format", '{{.Names}} {{.Label "atelier.dev/build-id"}}'),
    expected: (id, build) => [`atelier-${id}-main ${build}`],
    left: async () => {
      const steps = (await docker("ps", "--all", "--no-trunc", "--format", "{{.Names}} {{.Command}}")).filter((line) => line.includes(step))
      return [...(await containersOf(ofWorkspaces)), ...(await volumesOf(ofWorkspaces)), ...steps]
    },
    notes: async () => {
      const fillers = await containersOf("label=atelier.dev/part=runtime")
      return [`containers that have the runtime's volume, which the next sweep removes: ${fillers.length}`]
    }
  })
} finally {
  await removeAll()
  await postgres?.stop()
  await rm(folder, { recursive: true, force: true })
}
process.exit(isWell ? 0 : 1)
