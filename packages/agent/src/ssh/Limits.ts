/** What one connection may have open at a time. */

/** Channels: sessions, forwarded connections in both directions, uses of a forwarded agent. */
export const maximumChannels = 512

/** Ports and sockets that are forwarded to the client. */
export const maximumForwards = 64

/** Counts what is open, up to a bound. */
export class Places {
  private taken = 0

  constructor(private readonly most: number) {}

  /** Takes a place, and returns how it is given back; undefined where all are taken. */
  take(): (() => void) | undefined {
    if (this.taken >= this.most) return undefined
    this.taken += 1
    let isTaken = true
    return () => {
      if (isTaken) this.taken -= 1
      isTaken = false
    }
  }
}
