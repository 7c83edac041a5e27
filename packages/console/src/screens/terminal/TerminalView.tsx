/** One terminal: its emulator, and its connection while the agent is there. */
import type { WorkspaceAgent } from "@atelier/client"
import * as terminals from "@atelier/client/terminals"
import type { ITheme } from "@xterm/xterm"
import "@xterm/xterm/css/xterm.css"
import { type Ref, type RefObject, useEffect, useEffectEvent, useImperativeHandle, useRef, useState } from "react"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { meQuery } from "../../app/session.js"
import { isSessionOver, onSessionOver } from "../../app/sessionEnd.js"
import { terminalText } from "../../texts/terminal.js"
import { type Connection, connect, type ConnectionState } from "./connection.js"
import { type Emulator, loadEmulator } from "./emulator.js"
import type { TerminalTab } from "./tabs.js"

/** What the screen does with the terminal that it shows. */
export interface TerminalHandle extends Pick<Emulator, "find" | "endSearch" | "focus" | "selection" | "paste"> {
  readonly tryNow: () => void
}

interface Props {
  readonly ref: Ref<TerminalHandle> | undefined
  readonly tab: TerminalTab
  readonly label: string
  readonly agent: WorkspaceAgent | undefined
  readonly isShown: boolean
  /** The keys go to it as soon as it is there. */
  readonly takesFocus: boolean
  readonly theme: ITheme
  readonly fontSize: number
  readonly onState: (state: ConnectionState | undefined) => void
  readonly onTitle: (title: string) => void
  readonly onFound: (found: { readonly at: number; readonly count: number }) => void
  readonly onHover: (address: string | undefined) => void
  readonly onKey: (event: KeyboardEvent) => boolean
  /** The shell has ended, and another one is wanted. */
  readonly onRenew: () => void
}

let loaded: ReturnType<typeof loadEmulator> | undefined

/** Loads the library once; a failure is tried again by the next terminal. */
const load = (): ReturnType<typeof loadEmulator> => {
  loaded ??= loadEmulator().catch((error: unknown) => {
    loaded = undefined
    throw error
  })
  return loaded
}

type Heard = Omit<Parameters<Awaited<ReturnType<typeof loadEmulator>>>[0], "parent" | "theme" | "fontSize">

/** The emulator in an element, once its library is loaded. */
const useEmulator = ({ fontSize, isShown, takesFocus, theme }: Props, heard: Heard) => {
  const parent = useRef<HTMLDivElement>(null)
  const [emulator, setEmulator] = useState<Emulator>()
  const [isBroken, setBroken] = useState(false)
  const onData = useEffectEvent(heard.onData)
  const onSize = useEffectEvent(heard.onSize)
  const onTitle = useEffectEvent(heard.onTitle)
  const onHover = useEffectEvent(heard.onHover)
  const onFound = useEffectEvent(heard.onFound)
  const onKey = useEffectEvent(heard.onKey)
  const look = useEffectEvent(() => ({ theme, fontSize }))

  useEffect(() => {
    const element = parent.current
    if (element === null) return undefined
    let made: Emulator | undefined
    let isGone = false
    load().then(
      (make) => {
        if (isGone) return
        made = make({
          parent: element,
          ...look(),
          onData: (data) => onData(data),
          onSize: (size) => void onSize(size),
          onTitle: (title) => onTitle(title),
          onHover: (address) => onHover(address),
          onFound: (found) => onFound(found),
          onKey: (event) => onKey(event)
        })
        setEmulator(made)
      },
      () => {
        if (!isGone) setBroken(true)
      }
    )
    return () => {
      isGone = true
      made?.dispose()
    }
  }, [])

  useEffect(() => emulator?.dress(theme, fontSize), [emulator, fontSize, theme])

  useEffect(() => {
    const element = parent.current
    if (element === null || emulator === undefined) return undefined
    const observer = new ResizeObserver(() => emulator.fit())
    observer.observe(element)
    return () => observer.disconnect()
  }, [emulator])

  const takeFocus = useEffectEvent(() => {
    if (isShown && takesFocus) emulator?.focus()
  })
  useEffect(() => takeFocus(), [emulator])
  return { parent, emulator, isBroken }
}

interface Link {
  readonly connection: RefObject<Connection | undefined>
  readonly state: RefObject<ConnectionState | undefined>
}

/** Connects an emulator with the shell of a tab, while the agent is there. */
const useConnection = ({ agent, onState: told, tab }: Props, emulator: Emulator | undefined, { connection, state }: Link): void => {
  const onState = useEffectEvent((next: ConnectionState | undefined) => {
    state.current = next
    told(next)
  })
  /** Whether the shell may have written something that is shown again when it is connected. */
  const hasPast = useRef(tab.isKnown === true)
  const agentId = agent?.status === "connected" ? agent.id : undefined
  const command = agent?.apps.find(({ slug }) => slug === tab.app)?.command
  useEffect(() => {
    if (emulator === undefined || agentId === undefined) return undefined
    const made = connect({
      open: (signal) => {
        const { cols, rows } = emulator.size()
        const asked = { workspaceagent: agentId, reconnect: tab.id, height: String(rows), width: String(cols) }
        return terminals.openTerminal(client, command === undefined ? asked : { ...asked, command }, { signal })
      },
      onOutput: async (bytes, isFirst) => {
        const isReplay = isFirst && hasPast.current
        hasPast.current = true
        if (!isReplay) return emulator.write(bytes)
        emulator.reset()
        return emulator.replay(bytes)
      },
      onState: (next) => {
        onState(next)
        if (next.kind === "open") {
          const { cols, rows } = emulator.size()
          made.send({ height: rows, width: cols })
        }
        // The service tells a caller without a session the same as one without the right
        if (next.kind === "refused") void queryClient.fetchQuery({ ...meQuery, staleTime: 0 }).catch(() => undefined)
      }
    })
    connection.current = made
    const online = (): void => made.tryNow()
    addEventListener("online", online)
    const stop = onSessionOver(() => {
      if (!isSessionOver() && state.current?.kind === "refused") made.tryNow()
    })
    return () => {
      stop()
      removeEventListener("online", online)
      made.close()
      connection.current = undefined
      onState(undefined)
    }
  }, [agentId, command, connection, emulator, state, tab.id])
}

export const TerminalView = (props: Props) => {
  const { isShown, label, tab } = props
  const connection = useRef<Connection | undefined>(undefined)
  const state = useRef<ConnectionState | undefined>(undefined)
  const { emulator, isBroken, parent } = useEmulator(props, {
    ...props,
    onData: (data) => {
      if (state.current?.kind !== "ended") connection.current?.send({ data })
      else if (data === "\r") props.onRenew()
    },
    onSize: ({ cols, rows }) => connection.current?.send({ height: rows, width: cols })
  })
  useConnection(props, emulator, { connection, state })

  useImperativeHandle(
    props.ref,
    () => ({
      find: (text, direction, isTyping) => emulator?.find(text, direction, isTyping),
      endSearch: () => emulator?.endSearch(),
      focus: () => emulator?.focus(),
      selection: () => emulator?.selection() ?? "",
      paste: (text) => emulator?.paste(text),
      tryNow: () => connection.current?.tryNow()
    }),
    [emulator]
  )

  return (
    <div
      className="term-panel"
      role="tabpanel"
      id={`panel-${tab.id}`}
      aria-label={terminalText.screen(label)}
      data-shown={isShown || undefined}
      aria-hidden={!isShown}
    >
      {isBroken ? (
        <p className="term-broken" role="alert">
          {terminalText.loadFailed}
        </p>
      ) : null}
      <div ref={parent} className="term-emulator" />
    </div>
  )
}
