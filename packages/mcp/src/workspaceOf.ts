/** How tools find the workspaces that their callers name. */
import { type Client, type Sandbox, type Workspace, workspaces } from "@atelier/client"
import { ToolError } from "./toolResult.js"

/** Whether a name is an id. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Milliseconds that a tool waits for a workspace to be ready for it. */
const readyTime = 45_000

/** The workspace with an id, with a name of the caller's own, or with the name OWNER/NAME. */
export const workspaceOf = (client: Client, named: string, signal: AbortSignal): Promise<Workspace> => {
  if (isUuid(named)) return workspaces.getWorkspace(client, { workspace: named }, { signal })
  const [owner = "", name, ...rest] = named.includes("/") ? named.split("/") : ["me", named]
  if (owner === "" || name === undefined || name === "" || rest.length > 0)
    throw new ToolError("workspace: must be an id, a name, or OWNER/NAME")
  return workspaces.getWorkspaceByName(client, { user: owner, workspacename: name }, { signal })
}

/**
 * A signal that also ends after some milliseconds. It keeps a timer and a listener until it ends, so the signal of a tool ends with the tool. Node does not hold a
 * signal that `AbortSignal.any` makes: garbage collection would take it, and the time would never end.
 */
export const within = (signal: AbortSignal, time: number): AbortSignal => {
  const controller = new AbortController()
  const end = (reason: unknown): void => {
    clearTimeout(timer)
    signal.removeEventListener("abort", left)
    controller.abort(reason)
  }
  const left = (): void => end(signal.reason)
  const timer = setTimeout(() => end(new DOMException("The operation was aborted due to timeout", "TimeoutError")), time)
  signal.addEventListener("abort", left)
  if (signal.aborted) left()
  return controller.signal
}

/** The workspace as one to work in; waits for a moment while it starts. */
export const sandboxOf = async (client: Client, named: string, signal: AbortSignal): Promise<Sandbox> => {
  const { id } = await workspaceOf(client, named, signal)
  return client.sandboxes.get(id, { signal: within(signal, readyTime) })
}
