/** One of several processes that serve an address: what it has of its own, and how it hears from the process that started it. */
import { valueOf } from "@atelier/core/deployment"
import cluster from "node:cluster"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import type { Listen, Options } from "./Options.js"
import type { Place } from "./serve.js"
import { isEnd, numberVariable } from "./supervise.js"

/**
 * The number of this process, from 1; a process that takes another one's place has its number. Undefined for a process that serves alone, also one
 * that another program, such as a process manager, started in a cluster of its own.
 */
export const numberOf = (environment: NodeJS.ProcessEnv): number | undefined => {
  const number = environment[numberVariable]
  return cluster.isPrimary || number === undefined ? undefined : Number(number)
}

/** Where the others reach this process: on the loopback address, or at the port of its number where the server's machines reach each other. */
const internalAddress = ({ configuration }: Options, number: number): Listen => {
  const url = valueOf(configuration, "derp-server-relay-url")
  if (url === "") return { host: "127.0.0.1", port: 0 }
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) + number - 1 }
}

/** The options of the process with a number. The first one runs builds: a directory of workspaces has one owner. */
export const withPlace = (options: Options, number: number): Options => {
  const { configuration, metrics, terraformDirectory, workspacesDirectory } = options
  const own = metrics === undefined || metrics.port === 0 ? metrics : { ...metrics, port: metrics.port + number - 1 }
  if (number === 1) return { ...options, metrics: own }
  const none = { value: 0, source: "default", name: "--provisioner-daemons" } as const
  return {
    ...options,
    metrics: own,
    workspacesDirectory: join(workspacesDirectory, ".engine", "processes", String(number)),
    terraformDirectory: join(terraformDirectory, "processes", String(number)),
    configuration: { ...configuration, resolved: new Map(configuration.resolved).set("provisioner-daemons", none) }
  }
}

/** Signals reach all processes of a terminal or a service manager's group: what counts is what the first process says. */
const ended = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined)
    process.on("message", (message: unknown) => {
      if (isEnd(message)) resolve(message.end)
    })
    process.send?.({ listens: true })
  })

/** The variable with the set-up token that the processes of a server share. */
const setupVariable = "STANDALONE_SETUP_TOKEN"

/** Has the processes that this one starts share a set-up token, so that the link that is printed is valid at each, and at those that replace them. */
export const shareSetupToken = (environment: NodeJS.ProcessEnv): void => {
  environment[setupVariable] = randomBytes(24).toString("base64url")
}

/** The shared token, which the programs that this process starts do not get. */
const takeSetupToken = (environment: NodeJS.ProcessEnv): string | undefined => {
  const token = environment[setupVariable]
  delete environment[setupVariable]
  return token
}

export const placeOf = (options: Options, number: number): Place => {
  // Listens from the start on: the process may be told to end before it serves
  const signal = ended()
  return {
    internal: internalAddress(options, number),
    setupToken: takeSetupToken(process.env),
    ready: (greeting) => {
      process.send?.({ greeting })
      return signal
    }
  }
}
