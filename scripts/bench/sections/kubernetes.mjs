// How soon a new workspace in a Pod can be used, with nodes that have its image. ATELIER_TEST_KUBECONFIG names the cluster, which test/machines/kubernetes.sh has started:
// its nodes are this machine. Workspaces have no kept volume, since nothing makes volumes there.
import { runtimeArchive } from "@atelier/provisioner/container"
import { CoreV1Api, KubeConfig } from "@kubernetes/client-node"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdir, writeFile } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { dirname, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { fileURLToPath } from "node:url"
import { temporaryDirectory } from "../databases.mjs"
import { importTemplate, startStandalone } from "../standalone.mjs"
import { drain, measure } from "./interactive.mjs"

const kubeconfig = process.env.ATELIER_TEST_KUBECONFIG
const image = "localhost/atelier-bench:1"

const cold = `agents:
  - name: main
    container:
      image: ${image}
      volumes:
        - { name: home, keep: false }
`

const makeImage = () =>
  execFileSync(
    fileURLToPath(new URL("../../../test/machines/kubernetes.sh", import.meta.url)),
    ["image", dirname(kubeconfig), "static", image],
    {
      stdio: "inherit"
    }
  )

/** Puts the agent with its Node into a folder, which Pods mount. */
const unpackRuntime = async (folder) => {
  await mkdir(folder)
  const { tar } = await Effect.runPromise(runtimeArchive())
  const unpack = spawn("tar", ["-xC", folder], { stdio: ["pipe", "ignore", "inherit"] })
  await Promise.all([pipeline(tar(), unpack.stdin), once(unpack, "close")])
}

/** Brings Pods from an address of the node to a port of the loopback address, on which a server needs no set-up token. */
const bring = async (address) => {
  let port
  const listener = createServer((socket) => {
    const other = connect(port, "127.0.0.1")
    socket.on("error", () => other.destroy())
    other.on("error", () => socket.destroy())
    socket.pipe(other).pipe(socket)
  }).listen(0, address)
  await once(listener, "listening")
  return { url: `http://${address}:${listener.address().port}`, to: (found) => (port = found), close: () => listener.close() }
}

export const kubernetes = {
  title: "time to interactive in a Pod",
  run: async ({ database, databases, nodeArguments, report }) => {
    if (kubeconfig === undefined) return console.log("  skipped: ATELIER_TEST_KUBECONFIG names no cluster")
    makeImage()
    const config = new KubeConfig()
    config.loadFromFile(kubeconfig)
    const core = config.makeApiClient(CoreV1Api)
    const name = `atelier-bench-${process.pid}-${database.kind}`
    const directory = await temporaryDirectory()
    await chmod(directory.path, 0o755)
    const runtime = join(directory.path, "runtime")
    await unpackRuntime(runtime)
    await core.createNamespace({ body: { metadata: { name } } })
    const { items: nodes } = await core.listNode()
    const way = await bring(nodes[0].status.addresses.find(({ type }) => type === "InternalIP").address)
    const options = {
      agentUrl: way.url,
      kubeconfig,
      namespace: name,
      runtimeVolume: { hostPath: { path: runtime } },
      imagePullPolicy: "IfNotPresent"
    }
    const file = join(directory.path, "kubernetes.yaml")
    await writeFile(file, JSON.stringify(options))
    const args = ["--engines", "kubernetes", "--kubernetes-options-file", file]
    const server = await startStandalone(await databases.fresh(database.kind), directory.path, { args, nodeArguments })
    way.to(Number(new URL(server.url).port))
    const { client } = server
    try {
      const plain = await importTemplate(client, "plain", { "template.yaml": cold })
      await measure({
        client,
        figure: { database: database.name },
        kind: "Pod, cold",
        ready: async () => {},
        report,
        targets: {},
        values: { template_id: plain.id }
      })
    } finally {
      await drain(client)
      await server.stop()
      way.close()
      await core.deleteNamespace({ name })
      await directory.remove()
    }
  }
}
