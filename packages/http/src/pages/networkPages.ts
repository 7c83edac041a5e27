/** What the process knows of the private network, as pages for operators. agents-and-apps.md §16. */
import type { Coordination, LinkedAgent } from "@atelier/core/network"
import { escaped } from "./page.js"
import { text } from "./text.js"

/** Items that a page shows. */
const maximumShown = 1000

const list = <A>(items: ReadonlyArray<A>, show: (item: A) => string): string => {
  const shown = items.slice(0, maximumShown).map((item) => `<li>${show(item)}</li>`)
  const more = items.length > maximumShown ? `<p>${escaped(text.more(items.length - maximumShown))}</p>` : ""
  return `<p>${escaped(text.total(items.length))}</p>\n<ul>\n${shown.join("\n")}\n</ul>\n${more}`
}

export const peerList = (peers: ReadonlyArray<Coordination.PeerView>): string =>
  list(peers, ({ addresses, id, is_connected, tunnels }) =>
    escaped(
      [id, is_connected ? text.connected : text.notConnected, addresses.join(", "), ...tunnels.map((to) => `→ ${to}`)]
        .filter((part) => part !== "")
        .join(" · ")
    )
  )

export const agentList = (agents: ReadonlyArray<LinkedAgent>): string =>
  list(agents, ({ agent_id, connections, streams }) => escaped(`${agent_id} · ${text.linked(connections, streams)}`))
