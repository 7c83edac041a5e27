// Installs deploy/chart in a real cluster, and measures what clients notice of its rolling updates:
//   npm run build && node scripts/reliability/chart.mjs --image NAME:TAG --agent-image NAME:TAG [--address IP] [--api HOST:PORT] [--replicas 3] [--clients 6]
// The cluster is that of KUBECONFIG, and the nodes have both images. kubectl and helm are on the PATH. PostgreSQL and a load balancer run on this machine,
// which Pods reach at --address; the balancer sends connections to the Pods that the Service lists as ready, as kube-proxy does.
// Three servers run a workspace of the Kubernetes engine. Clients call without pause, and a terminal through each server stays open, while the chart is
// upgraded, rolled back, and loses one server after the other. Exits with 1 if a call failed during the upgrade or the rollback, or a terminal did not come back.
import { provisioning, templates, templateVersions, users, logins, workspaces, createClient } from "@atelier/client"
import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs, promisify } from "node:util"
import { pack } from "tar-stream"
import { WebSocket } from "ws"
import { hasFailed, keepCalling, newCount, reportOf } from "./load.mjs"
import { startPostgres } from "./server.mjs"

const { values } = parseArgs({
  options: {
    image: { type: "string" },
    "agent-image": { type: "string" },
    /** An image with a shell for the workspace. */
    "workspace-image": { type: "string", default: "docker.io/library/debian:12" },
    address: { type: "string", default: "127.0.0.1" },
    /** HOST:PORT of the API server on this machine, for a cluster whose Pods reach no Services. */
    api: { type: "string" },
    replicas: { type: "string", default: "3" },
    clients: { type: "string", default: "6" }
  }
})
const chart = fileURLToPath(new URL("../../deploy/chart", import.meta.url))
const run = promisify(execFile)
const say = (line) => process.stdout.write(`${line}\n`)
const since = (started) => `${((performance.now() - started) / 1000).toFixed(1)} s`

const namespace = `atelier-${randomUUID().slice(0, 8)}`
const kubectl = async (...words) => (await run("kubectl", ["-n", namespace, ...words], { maxBuffer: 64 * 1024 ** 2 })).stdout
const helm = (...words) => run("helm", [...words, "--namespace", namespace])

/** Sends each connection to one of the targets in turns. */
const relay = async (address, targets) => {
  let turn = 0
  const server = createServer((incoming) => {
    const all = targets()
    const target = all[turn++ % all.length]
    if (target === undefined) return incoming.destroy()
    const outgoing = connect(target)
    incoming.pipe(outgoing).pipe(incoming)
    incoming.on("error", () => outgoing.destroy()).on("close", () => outgoing.destroy())
    outgoing.on("error", () => incoming.destroy()).on("close", () => incoming.destroy())
  })
  server.listen(0, address)
  await once(server, "listening")
  return server
}

/** The addresses of the Pods that the Service lists as ready. */
const readyPods = async () => {
  const slices = JSON.parse(await kubectl("get", "endpointslices", "-l", "kubernetes.io/service-name=atelier", "-o", "json"))
  return slices.items.flatMap(({ endpoints, ports }) =>
    (endpoints ?? []).filter(({ conditions }) => conditions.ready).map(({ addresses: [host] }) => ({ host, port: ports[0].port }))
  )
}

/** A terminal that opens its socket again whenever it is lost, as the page's does. */
const openTerminal = (url, token, agent) => {
  const id = randomUUID()
  const state = { url, output: "", losses: 0, longest: 0, isOver: false, socket: undefined }
  const open = (lost) => {
    if (state.isOver) return
    const address = `${state.url.replace("http", "ws")}/api/v2/workspaceagents/${agent}/pty?reconnect=${id}&height=24&width=200&command=sh`
    const socket = new WebSocket(address, { headers: { "Service-Session-Token": token } })
    state.socket = socket
    socket.on("message", (bytes) => {
      if (lost !== undefined) state.longest = Math.max(state.longest, performance.now() - lost)
      lost = undefined
      state.output += bytes
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      if (lost === undefined) state.losses++
      setTimeout(open, 100, lost ?? performance.now())
    })
  }
  open()
  const type = async (line) => {
    while (state.socket.readyState !== WebSocket.OPEN) await sleep(20)
    state.socket.send(Buffer.from(JSON.stringify({ data: `${line}\r` })))
  }
  /** Whether the shell answers within half a minute. */
  const says = async (line, answer) => {
    for (const deadline = performance.now() + 30_000; performance.now() < deadline;) {
      await type(line)
      for (let turn = 0; turn < 20; turn++) {
        if (state.output.includes(answer)) return true
        await sleep(50)
      }
    }
    return false
  }
  const close = () => {
    state.isOver = true
    state.socket.terminate()
  }
  return { state, says, close }
}

const templateOf = async (client) => {
  const files = pack()
  files.entry(
    { name: "template.yaml" },
    `engine: kubernetes
agents:
  - name: main
    container:
      image: ${values["workspace-image"]}
      volumes:
        - { name: home, keep: false }
`
  )
  files.finalize()
  const { hash } = await provisioning.uploadFile(client, { contentType: "application/x-tar", body: await buffer(files) })
  const body = { storage_method: "file", provisioner: "terraform", file_id: hash }
  const version = await templateVersions.createTemplateVersion(client, { organization: "default", body })
  for await (const _ of templateVersions.followTemplateVersionLogs(client, { templateversion: version.id }));
  const { job } = await templateVersions.getTemplateVersion(client, { templateversion: version.id })
  if (job.status !== "succeeded") throw new Error(`the import is ${job.status}: ${job.error}`)
  return templates.createTemplate(client, { organization: "default", body: { name: "pod", template_version_id: version.id } })
}

const untilWorkspace = async (client, id, condition) => {
  for await (const workspace of workspaces.watchWorkspace(
    client,
    { workspace: id },
    { signal: AbortSignal.timeout(240_000), reconnect: () => 50 }
  )) {
    if (workspace.latest_build.status === "failed") throw new Error(`the build failed: ${workspace.latest_build.job.error}`)
    if (condition(workspace)) return workspace
  }
  throw new Error("the workspace did not get there")
}

/** Does something to the release while clients call, and reports on both. */
const underLoad = async ({ action, name, terminals, token, url }) => {
  const count = newCount()
  for (const { state } of terminals) Object.assign(state, { losses: 0, longest: 0 })
  const calling = Array.from({ length: Number(values.clients) }, () => keepCalling(url, token, count))
  const started = performance.now()
  await action()
  const taken = since(started)
  const marks = await Promise.all(terminals.map(({ says }) => says(`echo "$MARK-${name}"`, `kept-${name}`)))
  count.isOver = true
  await Promise.all(calling)
  say(`${name}: ${taken}`)
  for (const line of reportOf(count, (performance.now() - started) / 1000)) say(`  ${line}`)
  const losses = terminals.reduce((sum, { state }) => sum + state.losses, 0)
  const longest = Math.max(...terminals.map(({ state }) => state.longest))
  say(
    `  terminals: ${marks.filter(Boolean).length} of ${marks.length} with the same shell, ${losses} reconnections, the longest ${longest.toFixed(0)} ms`
  )
  return { areSame: marks.every(Boolean), hasFailed: hasFailed(count) }
}

const folder = await mkdtemp(join(tmpdir(), "atelier-chart-"))
await chmod(folder, 0o755)
let postgres, database, balancer, api, timer
const terminals = []
let failed = true
try {
  postgres = await startPostgres(folder)
  const { port } = new URL(postgres.url)
  database = await relay(values.address, () => [{ host: "127.0.0.1", port: Number(port) }])
  let pods = []
  balancer = await relay(values.address, () => pods)
  const url = `http://${values.address}:${balancer.address().port}`
  if (values.api !== undefined) {
    const [host, apiPort] = values.api.split(":")
    api = await relay(values.address, () => [{ host, port: Number(apiPort) }])
  }
  // One of the names in the API server's certificate
  const apiName = "kubernetes.default.svc"
  const apiValues =
    api === undefined
      ? {}
      : {
          hostAliases: [{ ip: values.address, hostnames: [apiName] }],
          env: { KUBERNETES_SERVICE_HOST: apiName, KUBERNETES_SERVICE_PORT: String(api.address().port) }
        }
  const databaseUrl = `postgres://postgres:postgres@${values.address}:${database.address().port}/postgres`
  const setupToken = randomUUID()

  await run("kubectl", ["create", "namespace", namespace])
  await kubectl(
    "create",
    "secret",
    "generic",
    "atelier",
    `--from-literal=database-url=${databaseUrl}`,
    `--from-literal=setup-token=${setupToken}`
  )
  const [repository, tag] = values.image.split(/:(?=[^:]*$)/)
  const [agentRepository, agentTag] = values["agent-image"].split(/:(?=[^:]*$)/)
  const valuesFile = join(folder, "values.yaml")
  await writeFile(
    valuesFile,
    JSON.stringify({
      accessUrl: url,
      replicas: Number(values.replicas),
      image: { repository, tag, pullPolicy: "IfNotPresent" },
      secrets: { ATELIER_SETUP_TOKEN: { secret: "atelier", key: "setup-token" } },
      resources: {},
      ...apiValues,
      kubernetes: {
        agentImage: { repository: agentRepository, tag: agentTag },
        agentUrl: url,
        options: { imagePullPolicy: "IfNotPresent" }
      }
    })
  )
  const release = ["atelier", chart, "--values", valuesFile, "--wait", "--timeout", "5m"]
  const installed = performance.now()
  await helm("install", ...release)
  say(`installed with ${values.replicas} servers: ${since(installed)}`)
  pods = await readyPods()
  const look = async () => {
    pods = await readyPods().catch(() => pods)
    timer = setTimeout(look, 250)
  }
  timer = setTimeout(look, 250)

  const account = { email: "ada@example.com", username: "ada", password: "correct horse battery" }
  const anonymous = createClient({ baseUrl: url, headers: { "Service-Setup-Token": setupToken } })
  await users.createFirstUser(anonymous, { body: account })
  const { session_token: token } = await logins.logIn(anonymous, { body: account })
  const client = createClient({ baseUrl: url, token, WebSocket })
  const { id: template_id } = await templateOf(client)
  const created = performance.now()
  const { id } = await workspaces.createWorkspace(client, { user: "me", body: { name: "first", template_id } })
  const running = await untilWorkspace(client, id, ({ latest_build }) =>
    latest_build.resources.some(({ agents = [] }) => agents.some(({ status }) => status === "connected"))
  )
  say(`a workspace of the Kubernetes engine is connected: ${since(created)}`)
  const [agent] = running.latest_build.resources.flatMap(({ agents = [] }) => agents)

  // One through each server: the agent is connected to one of them
  for (const { host, port: podPort } of pods) terminals.push(openTerminal(`http://${host}:${podPort}`, token, agent.id))
  const opened = await Promise.all(terminals.map(({ says }) => says("MARK=kept; echo sh-$((6*7))", "sh-42")))
  say(`terminals through ${opened.filter(Boolean).length} of ${opened.length} servers`)
  if (opened.includes(false)) throw new Error("a terminal did not open")
  // From now on through the load balancer, as users have them
  for (const { state } of terminals) state.url = url

  const upgrade = () => helm("upgrade", ...release, "--set", "podAnnotations.round=two")
  const upgraded = await underLoad({ name: "upgrade", action: upgrade, terminals, token, url })
  const rolledBack = await underLoad({
    name: "rollback",
    action: () => helm("rollback", "atelier", "1", "--wait", "--timeout", "5m"),
    terminals,
    token,
    url
  })
  // Each server in turn, so that each terminal loses its own
  const kill = async () => {
    for (const victim of await readyPods()) {
      const name = await kubectl("get", "pods", "--field-selector", `status.podIP=${victim.host}`, "-o", "name")
      await kubectl("delete", name.trim(), "--force", "--grace-period=0")
      const isReplaced = async () => {
        const ready = await readyPods()
        return ready.length === Number(values.replicas) && !ready.some(({ host }) => host === victim.host)
      }
      for (const deadline = performance.now() + 120_000; !(await isReplaced()); await sleep(250))
        if (performance.now() > deadline) throw new Error("a killed server was not replaced")
    }
  }
  // Calls that a killed server was answering are lost
  const killed = await underLoad({ name: "kill", action: kill, terminals, token, url })
  for (const terminal of terminals) terminal.close()

  const deleted = performance.now()
  await client.sandboxes.get(id).then((sandbox) => sandbox.delete({ wait: true }))
  say(`the workspace is deleted: ${since(deleted)}`)
  const left = await kubectl("get", "pods,secrets,persistentvolumeclaims", "-l", "atelier.dev/workspace-id", "-o", "name")
  say(`objects of the workspace that are left: ${left.split("\n").filter(Boolean).length}`)
  const gone = performance.now()
  await helm("uninstall", "atelier", "--wait")
  say(`uninstalled: ${since(gone)}`)
  failed = upgraded.hasFailed || rolledBack.hasFailed || left !== "" || ![upgraded, rolledBack, killed].every(({ areSame }) => areSame)
} catch (error) {
  say(await kubectl("get", "pods,events").catch(() => ""))
  say(await kubectl("logs", "deployment/atelier", "--tail", "50").catch(() => ""))
  throw error
} finally {
  clearTimeout(timer)
  for (const terminal of terminals) terminal.close()
  await run("kubectl", ["delete", "namespace", namespace, "--wait=false"]).catch(() => {})
  balancer?.close()
  database?.close()
  api?.close()
  await postgres?.stop()
  await rm(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
