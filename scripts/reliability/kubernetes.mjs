// Measures what kill -9 costs workspaces in Kubernetes: `npm run build && node scripts/reliability/kubernetes.mjs --kubeconfig FILE --image IMAGE
// --address ADDRESS [--volumes] [--kills 50] [--workspaces 4] [--lifetime 12000] [--postgres]`. IMAGE needs a shell, and the nodes, which are this machine, have to have
// it. Pods reach the server at ADDRESS of this machine. With `--volumes` this program makes the volumes of claims, as a cluster's provisioner does.
// Workspaces are created, stopped, started and deleted without pause while the server is killed again and again. Afterwards every build that was accepted has to
// have ended, and none may have failed but for those that four servers were lost with. Each workspace that runs has one Pod, of its latest build. Once all are
// deleted, nothing of them may be left in the namespace. Exits with 1 otherwise.
import { runtimeArchive } from "@atelier/provisioner/container"
import { CoreV1Api, KubeConfig, NetworkingV1Api } from "@kubernetes/client-node"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { killBuilds } from "./lives.mjs"
import { freePort, startPostgres } from "./server.mjs"

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    image: { type: "string" },
    address: { type: "string" },
    volumes: { type: "boolean", default: false },
    kills: { type: "string", default: "50" },
    workspaces: { type: "string", default: "4" },
    lifetime: { type: "string", default: "12000" },
    postgres: { type: "boolean", default: false }
  }
})
if (values.image === undefined) throw new Error("--image names an image with a shell")
if (values.address === undefined) throw new Error("--address is this machine's, as Pods see it")

const config = new KubeConfig()
if (values.kubeconfig === undefined) config.loadFromDefault()
else config.loadFromFile(values.kubeconfig)
const core = config.makeApiClient(CoreV1Api)
const network = config.makeApiClient(NetworkingV1Api)
const namespace = `atelier-kills-${process.pid}`
const storageClassName = values.volumes ? namespace : undefined

const folder = await mkdtemp(join(tmpdir(), "atelier-kubernetes-kills-"))
await chmod(folder, 0o755)
const runtime = join(folder, "runtime")
await mkdir(runtime)
const { tar } = await Effect.runPromise(runtimeArchive())
const unpack = spawn("tar", ["-xC", runtime], { stdio: ["pipe", "ignore", "inherit"] })
await Promise.all([pipeline(tar(), unpack.stdin), once(unpack, "close")])

const postgres = values.postgres ? await startPostgres(folder) : undefined
const port = await freePort()
// The server itself listens on the loopback address, where it needs no set-up token
const listener = createServer((socket) => {
  const other = connect(port, "127.0.0.1")
  socket.on("error", () => other.destroy())
  other.on("error", () => socket.destroy())
  socket.pipe(other).pipe(socket)
}).listen(0, values.address)
await once(listener, "listening")

const optionsFile = join(folder, "kubernetes.yaml")
await writeFile(
  optionsFile,
  JSON.stringify({
    agentUrl: `http://${values.address}:${listener.address().port}`,
    kubeconfig: values.kubeconfig,
    namespace,
    ...(storageClassName === undefined ? {} : { storageClass: storageClassName }),
    runtimeVolume: { hostPath: { path: runtime } },
    imagePullPolicy: "IfNotPresent",
    scheduleTimeout: "2 minutes",
    stopGrace: "5 seconds"
  })
)

/** Makes volumes of folders for claims, until it is over. */
const volumes = { isOver: !values.volumes }
const provideVolumes = async () => {
  const made = new Set()
  while (!volumes.isOver) {
    for (const { metadata, spec } of (await core.listNamespacedPersistentVolumeClaim({ namespace })).items) {
      if (made.has(metadata.uid) || spec.volumeName !== undefined) continue
      const path = join(folder, metadata.uid)
      await mkdir(path, { recursive: true })
      await chmod(path, 0o777)
      await core.createPersistentVolume({
        body: {
          metadata: { name: metadata.uid, labels: { "atelier-kills": namespace } },
          spec: {
            accessModes: ["ReadWriteOnce"],
            capacity: spec.resources.requests,
            storageClassName,
            persistentVolumeReclaimPolicy: "Retain",
            claimRef: { namespace, name: metadata.name, uid: metadata.uid },
            hostPath: { path }
          }
        }
      })
      made.add(metadata.uid)
    }
    await sleep(100)
  }
}

const isThere = ({ metadata }) => metadata.deletionTimestamp === undefined
const ofWorkspaces = { namespace, labelSelector: "atelier.dev/workspace-id" }

let isWell = false
await core.createNamespace({ body: { metadata: { name: namespace } } })
const providing = provideVolumes()
try {
  isWell = await killBuilds({
    url: `http://127.0.0.1:${port}`,
    options: {
      "http-address": `127.0.0.1:${port}`,
      database: postgres?.url ?? `sqlite:${join(folder, "atelier.db")}`,
      "workspaces-directory": join(folder, "workspaces"),
      "log-level": "error",
      engines: "kubernetes",
      "kubernetes-options-file": optionsFile
    },
    kills: Number(values.kills),
    count: Number(values.workspaces),
    lifetime: Number(values.lifetime),
    sources: {
      pod: {
        "template.yaml": `agents:\n  - name: main\n    container: { image: "${values.image}", cpus: 0.1, memory: 128Mi, disk: 16Mi }\n`
      }
    },
    title: values.postgres ? "PostgreSQL" : "SQLite",
    found: async (id) => {
      const pods = await core.listNamespacedPod({ namespace, labelSelector: `atelier.dev/workspace-id=${id}` })
      return pods.items.map(({ metadata: { labels, name } }) => `${name} ${labels["atelier.dev/build-id"]}`)
    },
    expected: (id, build) => [`atelier-${id}-main ${build}`],
    left: async () => {
      const lists = await Promise.all([
        core.listNamespacedPod(ofWorkspaces),
        core.listNamespacedSecret(ofWorkspaces),
        core.listNamespacedPersistentVolumeClaim(ofWorkspaces),
        network.listNamespacedNetworkPolicy(ofWorkspaces)
      ])
      return lists.flatMap(({ items }) => items.filter(isThere).map(({ metadata: { name } }) => name))
    }
  })
} finally {
  volumes.isOver = true
  await providing
  await core.deleteNamespace({ name: namespace })
  await core.deleteCollectionPersistentVolume({ labelSelector: `atelier-kills=${namespace}` })
  listener.close()
  await postgres?.stop()
  await rm(folder, { recursive: true, force: true })
}
process.exit(isWell ? 0 : 1)
