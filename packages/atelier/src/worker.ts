/** One of several processes that serve an address: what it has of its own. */
import { valueOf } from "@atelier/core/deployment"
import type { Worker } from "@atelier/http/cluster"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import type { Listen, Options } from "./Options.js"
import type { Place } from "./serve.js"

/** Where servers of other machines reach this process: at the port of its number. Those of this machine have its socket. */
const internalAddress = ({ configuration }: Options, number: number): Listen | undefined => {
  const url = valueOf(configuration, "derp-server-relay-url")
  if (url === "") return undefined
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) + number - 1 }
}

/** The options of the process with a number. The first one runs builds: a directory of workspaces has one owner. */
export const withPlace = (options: Options, number: number): Options => {
  if (number === 1) return options
  const { terraformDirectory, workspacesDirectory } = options
  return {
    ...options,
    workspacesDirectory: join(workspacesDirectory, ".engine", "processes", String(number)),
    terraformDirectory: join(terraformDirectory, "processes", String(number))
  }
}

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

export const placeOf = (options: Options, worker: Worker | undefined): Place => ({
  worker,
  internal: worker === undefined ? undefined : internalAddress(options, worker.number),
  setupToken: worker === undefined ? undefined : takeSetupToken(process.env)
})
