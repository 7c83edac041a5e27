/** A real Docker daemon, whose address is in the environment variable ATELIER_TEST_DOCKER_HOST. */
import { execFile, execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

/** Undefined where tests have no daemon. */
export const daemon = process.env["ATELIER_TEST_DOCKER_HOST"]

const host = daemon ?? ""

/** What the title of a suite says where it is skipped. */
export const skipped = daemon === undefined ? "; skipped: ATELIER_TEST_DOCKER_HOST names no daemon" : ""

const machine = fileURLToPath(new URL("../../../test/machines/docker.sh", import.meta.url))

/** Runs the client of Docker, and returns its output. */
export const docker = async (...args: ReadonlyArray<string>): Promise<string> => {
  const { stdout } = await promisify(execFile)("docker", ["--host", host, ...args], { encoding: "utf8", maxBuffer: 2 ** 26 })
  return stdout.trim()
}

/** Gives the daemon an image of busybox (`static`), or of busybox with what its kind names. */
export const giveImage = (kind: "image" | "node" | "postgres" | "python" | "static", name: string): void => {
  execFileSync(machine, [kind, host, name])
}

const words = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter(Boolean)

const labelled = (deployment: string, kind: "ps" | "volume", filters: ReadonlyArray<string> = []) =>
  docker(
    ...(kind === "ps" ? ["ps", "--all"] : ["volume", "ls"]),
    ...[`label=atelier.dev/deployment=${deployment}`, ...filters].flatMap((filter) => ["--filter", filter]),
    "--format",
    kind === "ps" ? "{{.Names}}" : "{{.Name}}"
  ).then(words)

/** The containers and volumes of a deployment's workspaces; of one workspace if it is named. Ports of the machine's network that are theirs are left out. */
export const left = async (deployment: string, workspace?: string): Promise<ReadonlyArray<string>> =>
  (await leftWithPorts(deployment, workspace)).filter((name) => !name.startsWith("atelier-port-"))

/** As {@link left}, with the volumes that reserve ports. */
export const leftWithPorts = async (deployment: string, workspace?: string): Promise<ReadonlyArray<string>> => {
  const filter = workspace === undefined ? "label=atelier.dev/workspace-id" : `label=atelier.dev/workspace-id=${workspace}`
  return (await Promise.all([labelled(deployment, "ps", [filter]), labelled(deployment, "volume", [filter])])).flat()
}

/** Removes all that a deployment has at the daemon. */
export const removeAll = async (deployment: string): Promise<void> => {
  const containers = await labelled(deployment, "ps")
  if (containers.length > 0) await docker("rm", "--force", "--volumes", ...containers)
  const volumes = await labelled(deployment, "volume")
  if (volumes.length > 0) await docker("volume", "rm", "--force", ...volumes)
  const networks = words(await docker("network", "ls", "--quiet", "--filter", `label=atelier.dev/deployment=${deployment}`))
  if (networks.length > 0) await docker("network", "rm", ...networks)
  const images = words(await docker("images", "--quiet", "--filter", `label=atelier.dev/deployment=${deployment}`))
  if (images.length > 0) await docker("rmi", "--force", ...new Set(images))
}
