/** What the status of a Pod says of its start. */
import type { Pod } from "../cluster/Objects.js"

export type Progress =
  | { readonly _tag: "Waiting"; readonly text: string }
  /** No node takes it; nodes may be added, or others may end. */
  | { readonly _tag: "Unschedulable"; readonly text: string }
  /** The agent's program runs. */
  | { readonly _tag: "Running" }
  /** A container ended, whose output says why. */
  | { readonly _tag: "Ended"; readonly container: string; readonly isPrevious: boolean; readonly text: string }
  /** It will not run without a change. */
  | { readonly _tag: "Failed"; readonly text: string }

type ContainerStatus = NonNullable<NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]>

/** Reasons of a waiting container that another attempt does not change, or that come after the second attempt. */
const final = new Set([
  "ImagePullBackOff",
  "ErrImageNeverPull",
  "InvalidImageName",
  "ImageInspectError",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError"
])

const sentence = (...texts: ReadonlyArray<string | null | undefined>): string => texts.filter((text) => text).join(": ")

const ofContainer = (status: ContainerStatus, isInit: boolean): Progress | undefined => {
  const { image, lastState, name, restartCount, state } = status
  const { terminated, waiting } = state ?? {}
  const of = `the container ${name}`
  if (waiting?.reason === "CrashLoopBackOff") {
    const ended = lastState?.terminated
    return {
      _tag: "Ended",
      container: name,
      isPrevious: true,
      text: `${of} ended with code ${ended?.exitCode ?? "?"}${ended?.reason ? ` (${ended.reason})` : ""}`
    }
  }
  if (waiting?.reason && final.has(waiting.reason)) {
    const what = /Image/.test(waiting.reason) ? `${of} with the image ${image ?? ""}` : of
    return { _tag: "Failed", text: sentence(what, waiting.reason, waiting.message) }
  }
  if (terminated && !(isInit && terminated.exitCode === 0)) {
    const { exitCode, message, reason } = terminated
    return { _tag: "Ended", container: name, isPrevious: false, text: sentence(`${of} ended with code ${exitCode}`, reason, message) }
  }
  return restartCount > 0 && !isInit && lastState?.terminated && name === "agent"
    ? { _tag: "Ended", container: name, isPrevious: true, text: `${of} ended with code ${lastState.terminated.exitCode}` }
    : undefined
}

/** Returns what a Pod's start has come to. */
export const progressOf = ({ status }: Pod): Progress => {
  if (status?.phase === "Failed") return { _tag: "Failed", text: sentence("the Pod has failed", status.reason, status.message) }
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled")
  if (scheduled?.status === "False" && scheduled.reason === "Unschedulable")
    return { _tag: "Unschedulable", text: sentence("no node takes the Pod: Unschedulable", scheduled.message) }
  const containers = status?.containerStatuses ?? []
  const stuck = [
    ...(status?.initContainerStatuses ?? []).map((one) => ofContainer(one, true)),
    ...containers.map((one) => ofContainer(one, false))
  ].find((one) => one !== undefined)
  if (stuck !== undefined) return stuck
  const agent = containers.find(({ name }) => name === "agent")
  if (agent?.state?.running) return { _tag: "Running" }
  const waiting = [...(status?.initContainerStatuses ?? []), ...containers].find(({ state }) => state?.waiting)
  return {
    _tag: "Waiting",
    text: sentence("the Pod waits", waiting?.name, waiting?.state?.waiting?.reason, waiting?.state?.waiting?.message)
  }
}

/** How a Pod ended, or why it has to be made again; undefined while it can go on as it is. */
export const endOf = ({ status }: Pod): string | undefined =>
  status?.phase === "Failed" || status?.phase === "Succeeded" ? sentence("the Pod has ended", status.reason, status.message) : undefined

const disruptionOf = ({ status }: Pod) =>
  (status?.conditions ?? []).find(({ status: is, type }) => type === "DisruptionTarget" && is === "True")

/** Why a Pod that is gone was lost. */
export const lossOf = (pod: Pod): string => {
  const disruption = disruptionOf(pod)
  if (disruption !== undefined) return sentence("the cluster has ended the Pod", disruption.reason, disruption.message)
  return endOf(pod) ?? "the Pod was deleted"
}

/** Whether the cluster has given up the node of a Pod that is being deleted: no answer of the node will come. */
export const isOfLostNode = (pod: Pod): boolean =>
  Boolean(pod.metadata.deletionTimestamp) && (pod.status?.reason === "NodeLost" || disruptionOf(pod)?.reason === "DeletionByTaintManager")
