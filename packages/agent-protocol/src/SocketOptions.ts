/** A byte stream by callbacks as far as a socket uses it. */
interface Carrier {
  readonly take: (ready: () => void) => Uint8Array | null | Error | undefined
  /** `sent` is called once the bytes have left, and may then change. */
  readonly put: (bytes: Uint8Array, done: (error?: Error) => void, sent?: () => void) => void
  readonly finish: () => void
}

/** A socket as far as its reads use it. */
interface Socket {
  readonly destroyed: boolean
  readonly push: (bytes: Uint8Array | null) => boolean
  readonly destroy: (error: Error) => unknown
}

type Done = (error?: Error | null) => void

/** What Node's `Duplex` takes to be a socket over a stream, and what calls back the write that its end leaves behind. */
export interface SocketOptions {
  readonly options: {
    readonly read: () => void
    readonly write: (chunk: Uint8Array, encoding: unknown, done: Done) => void
    readonly writev: (chunks: ReadonlyArray<{ readonly chunk: Uint8Array }>, done: Done) => void
    readonly final: (done: Done) => void
  }
  readonly breakOff: (error: Error) => void
}

/**
 * Returns the options of a socket over a stream. A write is called back once its bytes have left, so that its writer may use their memory again. `lost` makes
 * the socket's error of the stream's.
 */
export const socketOptions = ({ finish, put, take }: Carrier, socket: () => Socket, lost: (error: Error) => Error): SocketOptions => {
  let unsent: Done | undefined
  const send = (chunks: ReadonlyArray<Uint8Array>, done: Done): void => {
    unsent = done
    const over = (error: Error | null): void => {
      if (unsent !== done) return
      unsent = undefined
      done(error)
    }
    let at = 0
    // A loop: a client may cause thousands of chunks in one call, too many for calls within calls
    const go = (): void => {
      for (let chunk = chunks[at]; chunk !== undefined; chunk = chunks[at]) {
        at += 1
        let isAtOnce = true
        let isTaken = false
        const taken = (error?: Error): void => {
          if (error !== undefined) return over(lost(error))
          isTaken = true
          if (!isAtOnce) go()
        }
        put(chunk, taken, at === chunks.length ? () => over(null) : undefined)
        isAtOnce = false
        if (!isTaken) return
      }
    }
    go()
  }
  const read = (): void => {
    const end = socket()
    while (!end.destroyed) {
      const bytes = take(read)
      if (bytes === undefined) return
      if (bytes instanceof Error) return void end.destroy(lost(bytes))
      if (!end.push(bytes)) return
    }
  }
  return {
    options: {
      read,
      write: (chunk, _encoding, done) => send([chunk], done),
      writev: (chunks, done) =>
        send(
          chunks.map(({ chunk }) => chunk),
          done
        ),
      final: (done) => {
        finish()
        done()
      }
    },
    breakOff: (error) => unsent?.(error)
  }
}
