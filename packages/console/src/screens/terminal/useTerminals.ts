/** What the screen of a workspace's terminals holds, and what is done with them. */
import type { Workspace } from "@atelier/client"
import { useEffect, useRef, useState } from "react"
import { terminalText } from "../../texts/terminal.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { copyText } from "../../ui/text/Code.js"
import { agentsOf } from "../workspaces/state.js"
import type { ConnectionState } from "./connection.js"
import { added, beside, closed, maximumTabs, moved, renamed, renewed, reopened, type TerminalTab } from "./tabs.js"
import { useEach, useTabs } from "./terminalState.js"
import type { TerminalHandle } from "./TerminalView.js"

export const useTerminals = (workspace: Workspace) => {
  const agents = agentsOf(workspace.latest_build)
  const [tabs, setTabs] = useTabs(workspace)
  const [states, setState] = useEach<ConnectionState | undefined>()
  const [titles, setTitle] = useEach<string>()
  const [isSearching, setSearching] = useState(false)
  const handle = useRef<TerminalHandle>(null)
  const wantsFocus = useRef(false)
  const shown = tabs.all.find(({ id }) => id === tabs.shown)

  useEffect(() => {
    if (wantsFocus.current) handle.current?.focus()
    wantsFocus.current = false
  }, [tabs.shown])

  const nameOf = ({ agent, app, id, name, number }: TerminalTab): string => {
    const of = agents.find((each) => each.name === agent)?.apps.find(({ slug }) => slug === app)
    return name ?? (of?.display_name || titles[id] || of?.slug || terminalText.tab(number))
  }
  const labelOf = (tab: TerminalTab): string => (agents.length > 1 ? terminalText.onAgent(nameOf(tab), tab.agent) : nameOf(tab))
  const show = (id: string, isFinal: boolean): void => {
    wantsFocus.current = isFinal
    if (id === tabs.shown && isFinal) handle.current?.focus()
    setTabs((before) => ({ ...before, shown: id }))
  }
  const add = (agent = shown?.agent ?? agents[0]?.name): void => {
    if (tabs.all.length >= maximumTabs) return notifyError(new Error(terminalText.tooMany(maximumTabs)))
    if (agent !== undefined) setTabs((before) => added(before, { agent }))
    return undefined
  }
  const close = (id: string): void => {
    const at = tabs.all.findIndex((tab) => tab.id === id)
    const tab = tabs.all[at]
    if (tab === undefined) return
    setTabs((before) => closed(before, id))
    if (states[id]?.kind !== "open") return
    notify(terminalText.closed(labelOf(tab)), { label: terminalText.open, run: () => setTabs((before) => reopened(before, tab, at)) })
  }
  const move = (id: string, by: number): void => setTabs((before) => moved(before, id, by))
  const endSearch = (): void => {
    setSearching(false)
    handle.current?.endSearch()
    handle.current?.focus()
  }
  const copy = async (): Promise<void> => {
    const text = handle.current?.selection() ?? ""
    if (text === "") return notifyError(new Error(terminalText.nothingSelected))
    await copyText(text)
    return undefined
  }
  const paste = async (): Promise<void> => {
    try {
      handle.current?.paste(await navigator.clipboard.readText())
      handle.current?.focus()
    } catch {
      notifyError(new Error(terminalText.pasteFailed))
    }
  }

  /** Keys that the console keeps for itself: all have Control and Shift, which programs in terminals hardly use. */
  const onKey = (event: KeyboardEvent): boolean => {
    if (event.key === "Insert" && event.shiftKey !== event.ctrlKey) {
      // Control is copying, Shift is pasting, which the browser does
      if (event.ctrlKey) void copy()
      return true
    }
    if (!event.ctrlKey || !event.shiftKey || event.altKey || event.metaKey) return false
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (by !== undefined) {
      const id = beside(tabs, by)
      if (id !== undefined) show(id, true)
    } else if (event.key === "ArrowUp") document.querySelector<HTMLElement>('.term-tablist [aria-selected="true"]')?.focus()
    else if (event.key === "Enter") add()
    else if (event.code === "KeyC") void copy()
    else if (event.code === "KeyF") setSearching(true)
    else return event.code === "KeyV"
    event.preventDefault()
    return true
  }

  return {
    agents,
    tabs,
    shown,
    handle,
    states,
    setState,
    setTitle,
    nameOf,
    labelOf,
    show,
    add,
    close,
    move,
    rename: (id: string, name: string): void => setTabs((before) => renamed(before, id, name)),
    renew: (id: string): void => setTabs((before) => renewed(before, id)),
    isSearching,
    search: (): void => setSearching(true),
    endSearch,
    copy,
    paste,
    onKey
  }
}
