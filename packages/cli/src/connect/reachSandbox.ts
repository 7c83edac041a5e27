/** The workspace that commands run in. */
import type { Client, Sandbox } from "@atelier/client"
import { Failure } from "../Failure.js"
import type { Session } from "../Session.js"
import { findWorkspace, placeOf } from "../workspaces/find.js"

/** Finds a running workspace and waits until commands can run beside its agent. */
export const reachSandbox = async (client: Client, name: string, session: Session): Promise<Sandbox> => {
  const { out, program, signal } = session
  const workspace = await findWorkspace(client, name, session)
  const { status } = workspace.latest_build
  if (!["running", "starting", "pending"].includes(status)) {
    throw new Failure({ message: `The workspace "${name}" is ${status}.`, hint: `"${program} start ${name}" starts it.` })
  }
  const { agent } = placeOf(name)
  return out.waiting(`Waiting for ${workspace.name}`, client.sandboxes.get(workspace.id, { signal, agent }))
}
