/** WebSockets that notice a connection that is silently lost. */
import { WebSocket } from "ws"

/** Milliseconds without a sign of life; the service sends one every 15 seconds. */
const silence = 45_000
/** Milliseconds that the opening may take. */
const opening = 20_000

export class LiveSocket extends WebSocket {
  private timer: NodeJS.Timeout | undefined

  constructor(url: string, options?: object) {
    super(url, { ...options, perMessageDeflate: false, handshakeTimeout: opening })
    const live = (): void => {
      clearTimeout(this.timer)
      this.timer = setTimeout(() => this.terminate(), silence)
    }
    this.on("open", live)
    this.on("ping", live)
    this.on("message", live)
    this.on("close", () => clearTimeout(this.timer))
  }
}
