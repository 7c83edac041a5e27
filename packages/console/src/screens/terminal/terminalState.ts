/** What a window keeps of its terminals: the tabs, what is known of each, and the size of the letters. */
import type { Workspace } from "@atelier/client"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { store, stored, windowStorage } from "../../app/stored.js"
import type { Tone } from "../../ui/page/tone.js"
import { agentsOf } from "../workspaces/state.js"
import type { ConnectionState } from "./connection.js"
import { added, readTabs, type Tabs } from "./tabs.js"

const route = getRouteApi("/@{$owner}/$workspace/terminals")

const fontKey = "atelier-terminal-font"
const fontSizes = [10, 11, 12, 13, 14, 16, 18, 20, 24]
const usualSize = 13

/** The size of the letters, which this browser remembers. */
export const useFontSize = () => {
  const [size, setSize] = useState(() => {
    const chosen = Number(stored(fontKey))
    return fontSizes.includes(chosen) ? chosen : usualSize
  })
  const change = (by: number): void => {
    const next = fontSizes[fontSizes.indexOf(size) + by]
    if (next === undefined) return
    store(fontKey, String(next))
    setSize(next)
  }
  return { size, change, canGrow: size !== fontSizes.at(-1), canShrink: size !== fontSizes[0] }
}

/** The tabs of this window, which come back when it is loaded again. */
export const useTabs = ({ id, latest_build }: Workspace) => {
  const { agent, app } = route.useSearch()
  const navigate = useNavigate({ from: "/@{$owner}/$workspace/terminals" })
  const key = `atelier-terminals-${id}`
  const [tabs, setTabs] = useState<Tabs>(() => {
    const before = readTabs(windowStorage.read(key))
    const agents = agentsOf(latest_build)
    const wanted = agents.find(({ name }) => name === agent) ?? agents[0]
    const isThere = before.all.find((tab) => (agent === undefined || tab.agent === agent) && tab.app === app)
    if (isThere !== undefined) return { ...before, shown: app === undefined && agent === undefined ? before.shown : isThere.id }
    return wanted === undefined ? before : added(before, { agent: wanted.name, ...(app === undefined ? {} : { app }) })
  })
  useEffect(() => void windowStorage.write(key, JSON.stringify(tabs)), [key, tabs])
  // What the address asked for is there now: going back to it opens nothing more
  useEffect(() => {
    if (agent !== undefined || app !== undefined) void navigate({ search: {}, replace: true })
  }, [agent, app, navigate])
  return [tabs, setTabs] as const
}

/** A value of each tab. Those of closed tabs are few and small. */
export const useEach = <A>() => {
  const [values, setValues] = useState<Readonly<Record<string, A>>>({})
  return [values, (id: string, value: A) => setValues((before) => (before[id] === value ? before : { ...before, [id]: value }))] as const
}

/** How the mark of a tab shows its connection. */
export const toneOf = (state: ConnectionState | undefined): { readonly tone: Tone; readonly isMoving: boolean } => {
  switch (state?.kind) {
    case "open":
      return { tone: "green", isMoving: false }
    case "connecting":
      return { tone: "blue", isMoving: true }
    case "lost":
      return { tone: "amber", isMoving: false }
    case "refused":
      return { tone: "red", isMoving: false }
    default:
      return { tone: "grey", isMoving: false }
  }
}
