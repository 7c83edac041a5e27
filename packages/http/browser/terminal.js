// A terminal of a workspace in a browser. The page has the agent's id and where the service is; `reconnect` in its address is the terminal's id, so
// that the page leads to the same terminal when it is loaded again.
import { FitAddon } from "./addon-fit.mjs"
import { Terminal } from "./xterm.mjs"

const { agent, base } = document.body.dataset
const notice = document.querySelector("#notice")

/** Milliseconds before the connection is tried again, by how often it has failed. */
const delays = [500, 1000, 2000, 5000, 10_000]

/** WebSocket close codes (RFC 6455 §7.4.1): the program has ended, or the right to the terminal. */
const closed = { ended: 1000, refused: 1008 }

const terminal = new Terminal({
  cursorBlink: true,
  fontFamily: "ui-monospace, monospace",
  screenReaderMode: true,
  theme: { background: "#0b0c0f", foreground: "#eceef2", cursor: "#a9a5ff" }
})
const fit = new FitAddon()
terminal.loadAddon(fit)
terminal.open(document.querySelector("#terminal"))
fit.fit()
terminal.focus()

const say = (text) => {
  notice.textContent = text
  notice.hidden = text === ""
}

/** The id of the terminal, which the page's address keeps. */
const terminalId = () => {
  const address = new URL(location.href)
  const known = address.searchParams.get("reconnect")
  if (known !== null) return known
  const made = newId()
  address.searchParams.set("reconnect", made)
  history.replaceState(null, "", address)
  return made
}

/** A random UUID (RFC 9562 §5.4). `crypto.randomUUID` is for pages that came by TLS alone. */
const newId = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}

let socket
let failures = 0
let hasOpened = false

/** Statuses of other pages of the service, such as that of a stopped workspace. Others may pass. */
const ofOtherPages = new Set([400, 401, 403, 404])

/** Milliseconds in which the service tells what it has at this address. */
const askedFor = 5000

/** Whether the service has another page at this address now: that of a stopped workspace, of the login, or of the agent of a new build. */
const isReplaced = async () => {
  try {
    const response = await fetch(location.href, {
      headers: { accept: "text/html" },
      redirect: "manual",
      cache: "no-store",
      signal: AbortSignal.timeout(askedFor)
    })
    if (response.type === "opaqueredirect") return true
    // A proxy answers by itself while the service starts
    const isOfService = [...response.headers.keys()].some((name) => name.endsWith("-build-version"))
    if (!isOfService) return false
    return response.status === 200 ? !(await response.text()).includes(`data-agent="${agent}"`) : ofOtherPages.has(response.status)
  } catch {
    return false
  }
}

/** Connects again in a while, unless there is nothing to connect to any more. A service that has ended the terminal says why. */
const again = async (reason) => {
  say(reason || (hasOpened ? "The connection is lost. Trying again …" : "The workspace does not answer yet. Trying again …"))
  const delay = delays[Math.min(failures++, delays.length - 1)]
  if ((reason || failures > 1) && (await isReplaced())) return location.reload()
  setTimeout(connect, delay)
}

const send = (message) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(new TextEncoder().encode(JSON.stringify(message)))
}

const ended = () => {
  say("The terminal has ended. Press Enter for a new one.")
  const waiting = terminal.onData((data) => {
    if (data !== "\r") return
    waiting.dispose()
    const address = new URL(location.href)
    address.searchParams.delete("reconnect")
    history.replaceState(null, "", address)
    terminal.reset()
    hasOpened = false
    connect()
  })
}

const connect = () => {
  const address = new URL(`${base}/api/v2/workspaceagents/${agent}/pty`, location.href)
  address.protocol = address.protocol.replace("http", "ws")
  // No command from the page's address: a link of another page would run it
  const query = { reconnect: terminalId(), height: terminal.rows, width: terminal.cols }
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, String(value))
  const opening = new WebSocket(address)
  opening.binaryType = "arraybuffer"
  opening.addEventListener("open", () => {
    // What the terminal shows is sent again
    if (failures > 0) terminal.reset()
    failures = 0
    hasOpened = true
    say("")
    send({ height: terminal.rows, width: terminal.cols })
  })
  opening.addEventListener("message", ({ data }) => terminal.write(new Uint8Array(data)))
  opening.addEventListener("close", ({ code, reason }) => {
    if (code === closed.ended) return ended()
    // Such as that of an agent that is away for a while
    void again(code === closed.refused ? reason : "")
  })
  socket = opening
}

/** Keys that are held for other keys, and insert nothing by themselves. */
const modifiers = new Set(["Alt", "AltGraph", "CapsLock", "Control", "Fn", "Meta", "Shift"])

let isKey = false

// Text without a key, as from a picker of emoji or from dictation: the library leaves it out in the mode for screen readers
terminal.textarea.addEventListener("keydown", ({ key }) => (isKey = !modifiers.has(key)), true)
terminal.textarea.addEventListener("keyup", () => (isKey = false))
terminal.textarea.addEventListener("input", ({ data, inputType }) => {
  if (inputType === "insertText" && !isKey && data !== null) terminal.input(data)
})

terminal.onData((data) => send({ data }))
terminal.onResize(({ cols, rows }) => send({ height: rows, width: cols }))
addEventListener("resize", () => fit.fit())
connect()
