/** `ping` and `top`. */
import type { WorkspaceAgentMetadata } from "@atelier/client"
import * as agents from "@atelier/client/agents"
import { reachSandbox } from "../connect/reachSandbox.js"
import type { Session } from "../Session.js"
import { plain } from "../terminal/text.js"
import { agentIn, findWorkspace } from "./find.js"

/** Milliseconds between two pings. */
const pause = 1_000

/** Measures the way to the agent and back, by a question that it answers itself. */
export const ping = async (
  { count, workspace }: { readonly count: number | undefined; readonly workspace: string },
  session: Session
): Promise<void> => {
  const { out, signal } = session
  const client = await session.liveClient()
  const sandbox = await reachSandbox(client, workspace, session)
  for (let number = 1; number <= (count ?? 4); number++) {
    if (number > 1) await new Promise((resolve) => setTimeout(resolve, pause))
    signal.throwIfAborted()
    const begun = performance.now()
    await sandbox.processes({ signal })
    const milliseconds = Math.round((performance.now() - begun) * 10) / 10
    out.row({ number, milliseconds }, `answer ${number} from ${sandbox.name}: ${milliseconds} ms`)
  }
}

const valueOf = ({ result }: WorkspaceAgentMetadata): string =>
  result === undefined ? "" : result.error === undefined || result.error === "" ? result.value : result.error

/** Shows what the agent measures, such as its load, memory and disk: again and again on a terminal, once elsewhere. */
export const top = async (
  { once, workspace: name }: { readonly once: boolean; readonly workspace: string },
  session: Session
): Promise<void> => {
  const { out, signal, stdout } = session
  const client = await session.liveClient()
  const { id } = agentIn(await findWorkspace(client, name, session), name)
  const isLive = out.hasColours && !once && out.format === "table"
  for await (const metadata of agents.watchAgentMetadata(client, { workspaceagent: id }, { signal })) {
    if (isLive) stdout.write("\u001b[H\u001b[2J")
    out.list(
      metadata,
      [
        { title: "WHAT", of: ({ description }) => description.display_name, isKey: true },
        { title: "VALUE", of: (each) => plain(valueOf(each).trim()) }
      ],
      "The template's agent measures nothing."
    )
    if (!isLive && (once || stdout.isTTY !== true)) return
  }
}
