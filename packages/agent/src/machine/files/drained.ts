/** What both Node's streams and those of tars are. */
interface Drain {
  on(event: "drain" | "close", listener: () => void): unknown
  off(event: "drain" | "close", listener: () => void): unknown
}

/** Waits until a stream takes more, or is closed. */
export const drained = (stream: Drain): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done)
      stream.off("close", done)
      resolve()
    }
    stream.on("drain", done)
    stream.on("close", done)
  })
