import type { ContainerSpec } from "@atelier/provisioner/container"
import type { Settings } from "../Settings.js"
import { excesses } from "./Limits.js"

/** The user and group of a container, by number. */
export interface ContainerUser {
  readonly user: number
  readonly group?: number
}

const form = /^(\d{1,10})(?::(\d{1,10}))?$/

/** The user that a template names, or that of the engine's options. A name that is no number has been refused before. */
export const userOf = (user: string | undefined, settings: Pick<Settings, "user">): ContainerUser => {
  const match = form.exec(user ?? "")
  if (match === null) return { user: settings.user }
  return { user: Number(match[1]), ...(match[2] === undefined ? {} : { group: Number(match[2]) }) }
}

/** What this engine cannot do of a container, or what its operator does not allow, each as a sentence. */
export const refusals = ({ options, user: ownUser }: Settings, spec: ContainerSpec): ReadonlyArray<string> => {
  const isRoot = (user: string | undefined) => (user === undefined ? ownUser === 0 : /^0+(?::|$)/.test(user))
  const users = [spec.user, ...spec.sidecars.map(({ user }) => user)]
  const needsAddresses = spec.network === "none" && (options.serviceAddresses ?? []).length === 0
  return [
    ...(spec.image._tag === "Build" ? ["build: this engine builds no images; build and push it elsewhere, and name it with image"] : []),
    ...users.flatMap((user) =>
      user !== undefined && !form.test(user) ? [`user: Kubernetes knows users by number, not by the name ${JSON.stringify(user)}`] : []
    ),
    ...(users.some(isRoot) && options.allowRoot !== true ? ["user: the operator does not allow root (the option allowRoot)"] : []),
    ...(spec.privileged && options.allowPrivileged !== true
      ? ["privileged: the operator does not allow it (the option allowPrivileged)"]
      : []),
    ...(spec.runtime === undefined || [options.runtimeClass, ...(options.runtimes ?? [])].includes(spec.runtime)
      ? []
      : [`runtime: the operator does not allow ${spec.runtime} (the option runtimes)`]),
    ...excesses(options, spec),
    ...spec.sidecars.flatMap((sidecar) => excesses(options, sidecar).map((reason) => `the sidecar ${sidecar.name}: ${reason}`)),
    ...(needsAddresses ? ["network: none needs the addresses of the service (the option serviceAddresses)"] : [])
  ].map((reason) => `the container of the agent ${spec.agent}: ${reason}`)
}
