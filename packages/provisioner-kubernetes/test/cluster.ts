/** A namespace of a real cluster, which the environment variable ATELIER_TEST_KUBECONFIG names. It is deleted with its scope. */
import { Effect, Schedule, Schema, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Api, makeApi } from "../src/cluster/Api.js"
import type { ClusterError } from "../src/cluster/ClusterError.js"
import { connect } from "../src/cluster/Connection.js"
import { Any } from "../src/cluster/Objects.js"
import { makeResources, type Resources } from "../src/cluster/Resources.js"

export const kubeconfig = process.env["ATELIER_TEST_KUBECONFIG"]

/** What the title of a suite says where it is skipped. */
export const skipped = kubeconfig === undefined ? " (skipped: ATELIER_TEST_KUBECONFIG names no kubeconfig)" : ""

/** An image of busybox. The nodes of another cluster than that of `test/machines/kubernetes.sh` have to have it. */
export const image = "localhost/atelier-test:1"

/** That of the starter template, with Node. */
export const nodeImage = "docker.io/library/node:22"

const machine = fileURLToPath(new URL("../../../test/machines/kubernetes.sh", import.meta.url))

/** Whether the nodes are given images by `test/machines/kubernetes.sh`. */
const isOfMachine = kubeconfig !== undefined && existsSync(join(dirname(kubeconfig), "containerd.sock"))

/** Gives the nodes an image of busybox (`static`), or of busybox, Node and npm. */
export const giveImage = (kind: "node" | "static", name: string): void => {
  if (isOfMachine) execFileSync(machine, ["image", dirname(kubeconfig ?? ""), kind, name])
}

/** Gives the nodes the image of busybox, once for all tests of a file. */
const giveImageOnce = Effect.runSync(Effect.once(Effect.sync(() => giveImage("static", image))))

export const storageClass = "atelier-test"

export interface TestNamespace {
  readonly name: string
  readonly api: Api
  readonly resources: Resources
}

const Claim = Schema.Struct({
  metadata: Any.fields.metadata,
  spec: Schema.Struct({
    volumeName: Schema.optional(Schema.String),
    storageClassName: Schema.optional(Schema.String),
    resources: Schema.Struct({ requests: Schema.Struct({ storage: Schema.String }) })
  })
})

/** Gives claims folders of this machine, as a provisioner of a cluster does. */
const provideVolumes = ({ api, name, resources }: TestNamespace) =>
  Effect.gen(function* () {
    const root = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "atelier-volumes-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const made = new Set<string>()
    const volumes = "/api/v1/persistentvolumes"
    const turn = Effect.gen(function* () {
      for (const { metadata, spec } of yield* resources.list("persistentvolumeclaims", Claim, name, {})) {
        if (made.has(metadata.uid) || spec.volumeName !== undefined || spec.storageClassName !== storageClass) continue
        const body = {
          apiVersion: "v1",
          kind: "PersistentVolume",
          metadata: { name: metadata.uid, labels: { "atelier-test": name } },
          spec: {
            accessModes: ["ReadWriteOnce"],
            capacity: spec.resources.requests,
            storageClassName: storageClass,
            persistentVolumeReclaimPolicy: "Retain",
            claimRef: { namespace: name, name: metadata.name, uid: metadata.uid },
            hostPath: { path: join(root, metadata.uid), type: "DirectoryOrCreate" }
          }
        }
        mkdirSync(join(root, metadata.uid), { recursive: true })
        // A cluster's volumes are given to the Pod's group; folders of a machine are not
        chmodSync(join(root, metadata.uid), 0o777)
        yield* api.call({ doing: "make a volume", method: "POST", path: volumes, body })
        made.add(metadata.uid)
      }
    })
    yield* Effect.addFinalizer(() =>
      Effect.ignore(
        api.call({ doing: "delete the volumes", method: "DELETE", path: volumes, query: { labelSelector: `atelier-test=${name}` } })
      )
    )
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(turn), Schedule.spaced("100 millis")))
  })

export const aNamespace: Effect.Effect<TestNamespace, ClusterError, Scope.Scope> = Effect.gen(function* () {
  yield* giveImageOnce
  const api = makeApi(yield* connect({ kubeconfig }))
  const name = `atelier-test-${randomUUID().slice(0, 8)}`
  const path = "/api/v1/namespaces"
  yield* Effect.acquireRelease(
    api.call({ doing: "make a namespace", method: "POST", path, body: { apiVersion: "v1", kind: "Namespace", metadata: { name } } }),
    () => Effect.ignore(api.call({ doing: "delete the namespace", method: "DELETE", path: `${path}/${name}` }))
  )
  // Pods are refused until the namespace has its account
  const account = api.call({ doing: "read the account", method: "GET", path: `${path}/${name}/serviceaccounts/default` })
  yield* Effect.retry(account, Schedule.spaced("50 millis").pipe(Schedule.upTo("2 minutes")))
  const namespace = { name, api, resources: makeResources(api) }
  yield* provideVolumes(namespace)
  return namespace
})

const Nodes = Schema.Struct({
  items: Schema.Array(
    Schema.Struct({
      status: Schema.Struct({ addresses: Schema.Array(Schema.Struct({ type: Schema.String, address: Schema.String })) })
    })
  )
})

/** The address of a node, which is one of this machine's: Pods reach a server there. */
export const nodeAddress = ({ api }: TestNamespace) =>
  api.call({ doing: "list the nodes", method: "GET", path: "/api/v1/nodes" }).pipe(
    Effect.flatMap(Schema.decodeUnknown(Nodes)),
    Effect.map(
      ({ items }) => items.flatMap(({ status }) => status.addresses).find(({ type }) => type === "InternalIP")?.address ?? "127.0.0.1"
    )
  )
