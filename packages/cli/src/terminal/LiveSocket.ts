/** WebSockets that notice a connection that is silently lost. */
import type { SocketConstructor } from "@atelier/client"
import { WebSocket } from "ws"

/** Milliseconds without a sign of life; the service sends one every 15 seconds. */
const silence = 45_000
/** Milliseconds that the opening may take. */
const opening = 20_000

/** How a socket closes that was not closed on purpose: RFC 6455 §7.4.1, and the restart of a server. */
const lostCodes = [1006, 1011, 1012]

/** The class of such WebSockets. It calls a function when an open connection is lost. */
export const liveSocket = (onLost = (): void => {}): SocketConstructor =>
  class extends WebSocket {
    constructor(url: string, options?: object) {
      super(url, { ...options, perMessageDeflate: false, handshakeTimeout: opening })
      let timer: NodeJS.Timeout | undefined
      let wasOpen = false
      const live = (): void => {
        wasOpen = true
        clearTimeout(timer)
        timer = setTimeout(() => this.terminate(), silence)
      }
      this.on("open", live)
      this.on("ping", live)
      this.on("message", live)
      this.on("close", (code: number) => {
        clearTimeout(timer)
        if (wasOpen && lostCodes.includes(code)) onLost()
      })
    }
  }
