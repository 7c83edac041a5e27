/** What the engines need on this machine. */
import { reasonOf } from "@atelier/core/platform"
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { get, type RequestOptions } from "node:http"
import { homedir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { promisify } from "node:util"
import type { EngineName, Options } from "../Options.js"
import { type Check, fault, type Finding, ok, warning } from "./Finding.js"

/** Milliseconds that a program or a daemon may take to answer. */
const longestAnswer = 10_000

const withoutEngine = (name: EngineName): string => `or leave ${name} out of --engines`

/** The version that a program prints; undefined if it cannot be run. */
const versionOf = (program: string): Promise<string | undefined> =>
  promisify(execFile)(program, ["version"], { timeout: longestAnswer }).then(
    ({ stdout }) => stdout.split("\n")[0],
    () => undefined
  )

const terraform = async ({ terraformBinary }: Options): Promise<Finding> => {
  const programs = terraformBinary === undefined ? ["terraform", "tofu"] : [terraformBinary]
  for (const program of programs) {
    const version = await versionOf(program)
    if (version !== undefined) return ok(`terraform: ${version}`)
  }
  const advice = `install Terraform or OpenTofu, name it with --terraform-binary, ${withoutEngine("terraform")}`
  // Without the option, templates of the local engine still work
  return terraformBinary === undefined
    ? warning("terraform: neither terraform nor tofu is on the PATH", advice)
    : fault(`terraform: ${terraformBinary} cannot be run`, advice)
}

const pinged = (address: RequestOptions): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = get({ ...address, path: "/_ping", timeout: longestAnswer }, (response) => void text(response).then(resolve, reject))
    request.on("timeout", () => request.destroy(new Error("it does not answer"))).on("error", reject)
  })

const docker = async ({ docker: { host, tlsDirectory } }: Options): Promise<Finding> => {
  const url = host ?? "unix:///var/run/docker.sock"
  if (url.startsWith("ssh:") || tlsDirectory !== undefined) return ok(`docker: ${url}, which this check does not reach`)
  const { hostname, pathname, port, protocol } = new URL(url)
  const address = protocol === "unix:" ? { socketPath: pathname } : { host: hostname, port: Number(port || 2375) }
  const refusal = await pinged(address).then(
    (answer) => (answer === "OK" ? undefined : `it answers ${JSON.stringify(answer.slice(0, 80))}`),
    reasonOf
  )
  return refusal === undefined
    ? ok(`docker: ${url} answers`)
    : fault(
        `docker: ${url} cannot be used: ${refusal}`,
        `start the Docker daemon, let the user of the server into its group, name another daemon with --docker-host, ${withoutEngine("docker")}`
      )
}

const kubernetes = async ({ kubernetes: { kubeconfig } }: Options): Promise<Finding> => {
  const files = kubeconfig === undefined ? (process.env["KUBECONFIG"] ?? join(homedir(), ".kube", "config")).split(":") : [kubeconfig]
  const file = files.find((one) => existsSync(one))
  if (file !== undefined) return ok(`kubernetes: ${file}; the start of the server asks the cluster for the rights`)
  return kubeconfig === undefined && process.env["KUBERNETES_SERVICE_HOST"] !== undefined
    ? ok("kubernetes: the account of this Pod")
    : fault(`kubernetes: there is no ${files.join(", ")}`, `name a kubeconfig with --kubernetes-kubeconfig, ${withoutEngine("kubernetes")}`)
}

const ofEngine: Readonly<Record<EngineName, (options: Options) => Promise<Finding>>> = {
  docker,
  kubernetes,
  local: async ({ workspacesDirectory }) => ok(`local: workspaces are processes of this machine, in ${workspacesDirectory}`),
  terraform
}

export const engineFindings: Check = (options) => Promise.all(options.engines.map((name) => ofEngine[name](options)))
