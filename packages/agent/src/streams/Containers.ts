/** The containers beside the agent, by an API compatible with Docker's. agents-and-apps.md §11. */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { request } from "node:http"
import { basename } from "node:path"

/** Bytes of an answer of the engine. */
const maximumAnswer = 4 * 1024 * 1024

/** Milliseconds that the engine may take. Stopping a container takes 10 s where its program does not end by itself. */
const patience = 25_000

/** Containers that are told of. */
const maximumContainers = 500

/** The label by which a devcontainer tells of its folder, and that of its configuration. */
const folderLabel = "devcontainer.local_folder"
const configLabel = "devcontainer.config_file"

type Variables = Readonly<Record<string, string>>

interface Port {
  readonly IP?: string
  readonly PrivatePort: number
  readonly PublicPort?: number
  readonly Type: string
}

/** A container as the engine lists it. */
interface Listed {
  readonly Id: string
  readonly Names?: ReadonlyArray<string>
  readonly Image: string
  /** Seconds since 1970. */
  readonly Created: number
  readonly Labels?: Readonly<Record<string, string>> | null
  readonly State: string
  readonly Status: string
  readonly Ports?: ReadonlyArray<Port> | null
  readonly Mounts?: ReadonlyArray<{ readonly Source?: string; readonly Destination: string }> | null
}

/** The engine refused, or has no such container. */
export class EngineFailure extends Error {
  constructor(
    readonly status: number,
    message: string
  ) {
    super(message)
  }
}

/** Where an engine of this machine listens. */
export const engineSocket = (environment: Readonly<Record<string, string | undefined>>): string => {
  const host = environment["DOCKER_HOST"] ?? ""
  return host.startsWith("unix://") ? host.slice("unix://".length) : "/var/run/docker.sock"
}

const ask = (socketPath: string, method: string, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request(
      { socketPath, method, path, headers: { host: "localhost" }, signal: AbortSignal.timeout(patience) },
      (response) => {
        const { statusCode = 0 } = response
        const chunks: Array<Buffer> = []
        let size = 0
        response.on("data", (chunk: Buffer) => {
          size += chunk.length
          if (size > maximumAnswer) response.destroy(new Error("the answer of the container engine is too large"))
          else chunks.push(chunk)
        })
        response.on("error", reject)
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString()
          if (statusCode < 300 || statusCode === 304) resolve(text)
          else reject(new EngineFailure(statusCode, `The container engine answered ${statusCode}.`))
        })
      }
    )
    asked.on("error", reject)
    asked.end()
  })

const containerOf = (listed: Listed) => ({
  id: listed.Id,
  name: (listed.Names?.[0] ?? "").replace(/^\//, ""),
  image: listed.Image,
  created_at: new Date(listed.Created * 1000).toISOString(),
  labels: listed.Labels ?? {},
  running: listed.State === "running",
  status: listed.Status,
  ports: (listed.Ports ?? []).map(({ IP, PrivatePort, PublicPort, Type }) => ({
    port: PrivatePort,
    network: Type,
    ...(IP === undefined ? {} : { host_ip: IP }),
    ...(PublicPort === undefined ? {} : { host_port: PublicPort })
  })),
  volumes: Object.fromEntries((listed.Mounts ?? []).map(({ Destination, Source = "" }) => [Source, Destination]))
})
type Container = ReturnType<typeof containerOf>

/** The same for the same folder, as long as the folder has a devcontainer. */
const idOf = (folder: string): string => {
  const hash = createHash("sha256").update(folder).digest("hex")
  return [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join("-")
}

const devcontainerOf = (container: Container) => {
  const folder = container.labels[folderLabel] ?? ""
  const config = container.labels[configLabel]
  return {
    id: idOf(folder),
    name: basename(folder),
    workspace_folder: folder,
    ...(config === undefined ? {} : { config_path: config }),
    status: container.running ? "running" : "stopped",
    dirty: false,
    container
  }
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ECONNREFUSED" || error.code === "EACCES")

type Devcontainer = Omit<ReturnType<typeof devcontainerOf>, "container"> & { readonly container?: Container; readonly error?: string }

/** Makes the container of a folder anew, by the program of the devcontainers' specification. Answers why that failed, if it did. */
const build = (folder: string, environment: Variables): Promise<string | undefined> =>
  new Promise((resolve) => {
    const command = ["up", "--workspace-folder", folder, "--remove-existing-container"]
    const program = spawn("devcontainer", command, { env: { ...environment }, stdio: "ignore" })
    program.on("error", () => resolve("The program devcontainer is not installed in the workspace."))
    program.on("close", (code) => resolve(code === 0 ? undefined : `The program devcontainer ended with ${String(code)}.`))
  })

/**
 * Lists the containers of an engine, and changes its devcontainers. A machine without an engine has none. Commands of a devcontainer run with
 * the variables of the workspace's scripts: the agent's own hold its token.
 */
export const makeContainers = (socketPath: string, variables: () => Promise<Variables>) => {
  /** Devcontainers that are made anew, or could not be. */
  const building = new Map<string, Devcontainer>()

  const list = async (): Promise<{
    readonly containers: ReadonlyArray<Container>
    readonly devcontainers: ReadonlyArray<Devcontainer>
  }> => {
    try {
      const listed: ReadonlyArray<Listed> = JSON.parse(await ask(socketPath, "GET", "/containers/json?all=true"))
      const containers = listed.slice(0, maximumContainers).map(containerOf)
      const found = containers.filter(({ labels }) => labels[folderLabel] !== undefined).map(devcontainerOf)
      const standing = found.filter(({ id }) => !building.has(id))
      return { containers, devcontainers: [...standing, ...building.values()] }
    } catch (error) {
      if (isAbsent(error)) return { containers: [], devcontainers: [] }
      throw error
    }
  }

  const found = async (id: string) => {
    const devcontainer = (await list()).devcontainers.find((one) => one.id === id)
    if (devcontainer === undefined) throw new EngineFailure(404, "The devcontainer does not exist.")
    return devcontainer
  }

  return {
    list,

    /** Stops a devcontainer and removes it. Its folder stays. */
    remove: async (id: string): Promise<void> => {
      const { container } = await found(id)
      building.delete(id)
      if (container !== undefined) await ask(socketPath, "DELETE", `/containers/${container.id}?force=true`)
    },

    /** Begins to make a devcontainer anew. */
    recreate: async (id: string): Promise<{ readonly name: string }> => {
      const { container: _, error: __, ...devcontainer } = await found(id)
      if (devcontainer.status === "starting") throw new EngineFailure(409, "The devcontainer is being made anew.")
      building.set(id, { ...devcontainer, status: "starting" })
      void build(devcontainer.workspace_folder, await variables()).then((error) => {
        if (error === undefined) building.delete(id)
        else building.set(id, { ...devcontainer, status: "error", error })
      })
      return { name: devcontainer.name }
    }
  }
}
export type Containers = ReturnType<typeof makeContainers>
