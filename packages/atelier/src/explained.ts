/** The words for refused options, with the names that options have in the standalone program. */
import { optionName } from "@atelier/core/deployment"
import { reasonOf, StartError } from "@atelier/core/platform"
import { definitions, UsageError } from "./Sources.js"

/** Options of the standalone program whose names do not follow from those in the library. */
const named: Readonly<Record<string, string>> = {
  "storage.filename": "database",
  "storage.url": "database",
  "local.directory": "workspaces-directory",
  "terraform.directory": "terraform-directory",
  "terraform.controlGroup": "terraform-control-group",
  "docker.runtimeDirectory": "docker-runtime",
  "docker.buildTimeout": "docker-build-timeout",
  "docker.agentUrl": "docker-agent-url",
  "docker.allowPrivileged": "docker-allow-privileged",
  "docker.defaults": "docker-default-limits",
  "docker.maxima": "docker-maximum-limits",
  "docker.pidsLimit": "docker-pids-limit",
  "docker.registryConfig": "docker-registry-config",
  "docker.tlsDirectory": "docker-tls-directory",
  "kubernetes.agentUrl": "kubernetes-agent-url",
  "kubernetes.kubeconfig": "kubernetes-kubeconfig",
  "kubernetes.namespace": "kubernetes-namespace",
  "kubernetes.optionsFile": "kubernetes-options-file",
  "kubernetes.runtimeImage": "kubernetes-runtime-image",
  "email.tls.cert": "email-tls-cert-file"
}

/** The flags by their names in a program. */
const flags: ReadonlyMap<string, string> = new Map(Object.keys(definitions).map((flag) => [optionName(flag), flag]))

const withFlag = ({ option, reason, value }: StartError): string => {
  const name = named[option] ?? flags.get(option.replace(/^options\./, "")) ?? option.replaceAll(".", "-")
  return new StartError({
    option: Object.hasOwn(definitions, name) ? `--${name}` : option,
    reason: reason.replaceAll(/\b[a-z0-9]+[A-Z]\w*/g, (word) => (flags.has(word) ? `--${flags.get(word)}` : word)),
    ...(value === undefined ? {} : { value })
  }).message
}

/** Returns one sentence that says what is wrong with the command line, or with what an option names. */
export const explained = (error: unknown, failed = "The server could not start"): string => {
  if (error instanceof UsageError) return `${error.message} (serve --help lists the options)`
  return `${failed}: ${error instanceof StartError ? withFlag(error) : reasonOf(error)}`
}

/** The library's refusals of the command line are shown like the program's own. */
const refused = (error: unknown): unknown => (error instanceof StartError ? new UsageError(withFlag(error)) : error)

/** What `make` returns. Throws `UsageError` for what the library refuses. */
export const orRefuse = <A>(make: () => A): A => {
  try {
    return make()
  } catch (error) {
    throw refused(error)
  }
}
