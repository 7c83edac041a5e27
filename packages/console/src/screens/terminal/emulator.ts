/** A terminal on the page: the library, and what keeps the output of programs from doing more than showing itself. */
import type { ITheme } from "@xterm/xterm"
import { isWebAddress } from "../../app/config.js"
import { terminalText } from "../../texts/terminal.js"
import { matchColours } from "./colours.js"
import { onInsertedText } from "./insertedText.js"
import { shownText } from "./tabs.js"

export interface EmulatorOptions {
  readonly parent: HTMLElement
  readonly theme: ITheme
  readonly fontSize: number
  /** What the user typed, and what programs asked the terminal for. */
  readonly onData: (data: string) => void
  readonly onSize: (size: { readonly rows: number; readonly cols: number }) => void
  /** What the program calls itself. */
  readonly onTitle: (title: string) => void
  /** The address under the pointer; undefined when it has left it. */
  readonly onHover: (address: string | undefined) => void
  readonly onFound: (found: { readonly at: number; readonly count: number }) => void
  /** Handles a key of the console; tells whether it was one. */
  readonly onKey: (event: KeyboardEvent) => boolean
}

export interface Emulator {
  readonly size: () => { readonly rows: number; readonly cols: number }
  /** Shows output; resolves when little is left to be shown. */
  readonly write: (bytes: Uint8Array) => Promise<void>
  /** Shows what a program wrote before: what it asked the terminal then was answered then. */
  readonly replay: (bytes: Uint8Array) => Promise<void>
  readonly reset: () => void
  readonly fit: () => void
  readonly focus: () => void
  readonly dress: (theme: ITheme, fontSize: number) => void
  readonly find: (text: string, direction: "next" | "previous", isTyping: boolean) => void
  readonly endSearch: () => void
  readonly selection: () => string
  readonly paste: (text: string) => void
  readonly dispose: () => void
}

const fontFamily = 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "Liberation Mono", monospace'

/** Lines that can be scrolled back to. */
const scrollback = 5_000

/** Bytes that may wait to be shown: more waits at the connection. */
const comfortable = 512 * 1024

const maximumTitle = 80

const openAddress = (address: string): void => {
  if (isWebAddress(address)) window.open(address, "_blank", "noopener,noreferrer")
}

export const loadEmulator = async () => {
  const [{ Terminal }, { FitAddon }, { SearchAddon }, { WebLinksAddon }] = await Promise.all([
    import("@xterm/xterm"),
    import("@xterm/addon-fit"),
    import("@xterm/addon-search"),
    import("@xterm/addon-web-links")
  ])

  return ({ fontSize, onData, onFound, onHover, onKey, onSize, onTitle, parent, theme }: EmulatorOptions): Emulator => {
    Terminal.strings.promptLabel = terminalText.input
    const hovered = { hover: (_: unknown, address: string) => onHover(address), leave: () => onHover(undefined) }
    const terminal = new Terminal({
      // For the marks of the search
      allowProposedApi: true,
      cursorBlink: true,
      fontFamily,
      fontSize,
      minimumContrastRatio: 4.5,
      screenReaderMode: true,
      scrollback,
      theme,
      linkHandler: { activate: (_, address) => openAddress(address), ...hovered }
    })
    const fit = new FitAddon()
    const search = new SearchAddon()
    terminal.loadAddon(fit)
    terminal.loadAddon(search)
    terminal.loadAddon(new WebLinksAddon((_, address) => openAddress(address), hovered))
    terminal.open(parent)
    fit.fit()

    let isReplaying = false
    let waiting = 0
    terminal.onData((data) => {
      if (isReplaying && data.startsWith("\u001b")) return
      onData(data)
    })
    terminal.onResize(onSize)
    terminal.onTitleChange((title) => onTitle(shownText(title, maximumTitle)))
    search.onDidChangeResults(({ resultCount, resultIndex }) => onFound({ at: resultIndex + 1, count: resultCount }))
    terminal.attachCustomKeyEventHandler((event) => event.type !== "keydown" || !onKey(event))

    const paste = (text: string): void => {
      // An escape would end the brackets that programs know pasted text by
      terminal.paste(text.replaceAll("\u001b", ""))
    }
    const onPaste = (event: ClipboardEvent): void => {
      event.preventDefault()
      event.stopPropagation()
      paste(event.clipboardData?.getData("text/plain") ?? "")
    }
    parent.addEventListener("paste", onPaste, true)
    if (terminal.textarea !== undefined) onInsertedText(terminal.textarea, (text) => terminal.input(text))

    const shown = (bytes: Uint8Array): Promise<void> => new Promise((resolve) => terminal.write(bytes, resolve))

    return {
      size: () => ({ rows: terminal.rows, cols: terminal.cols }),
      write: async (bytes) => {
        waiting += bytes.length
        const done = shown(bytes).then(() => {
          waiting -= bytes.length
        })
        if (waiting > comfortable) await done
      },
      replay: async (bytes) => {
        isReplaying = true
        await shown(bytes)
        isReplaying = false
      },
      reset: () => terminal.reset(),
      fit: () => fit.fit(),
      focus: () => terminal.focus(),
      dress: (nextTheme, size) => {
        terminal.options.theme = nextTheme
        terminal.options.fontSize = size
        fit.fit()
      },
      find: (text, direction, isTyping) => {
        const { activeMatchBackground, matchBackground } = matchColours()
        const options = {
          incremental: isTyping,
          decorations: {
            activeMatchBackground,
            matchBackground,
            matchOverviewRuler: matchBackground,
            activeMatchColorOverviewRuler: activeMatchBackground
          }
        }
        if (direction === "next") search.findNext(text, options)
        else search.findPrevious(text, options)
      },
      endSearch: () => {
        search.clearDecorations()
        terminal.clearSelection()
      },
      selection: () => terminal.getSelection(),
      paste,
      dispose: () => {
        parent.removeEventListener("paste", onPaste, true)
        terminal.dispose()
      }
    }
  }
}
