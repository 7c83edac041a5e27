import { useEffect, useState } from "react"

type Word = "opened" | "here" | "closed"

/** Whether another window of this browser shows what has this name. */
export const useElsewhere = (name: string): boolean => {
  const [isElsewhere, setElsewhere] = useState(false)
  useEffect(() => {
    const channel = new BroadcastChannel(`atelier ${name}`)
    // A channel is of one origin, and takes no other argument
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    const say = (word: Word): void => channel.postMessage(word)
    const ask = (): void => {
      setElsewhere(false)
      say("opened")
    }
    const leave = (): void => say("closed")
    channel.addEventListener("message", ({ data }: MessageEvent<Word>) => {
      if (data === "closed") return ask()
      setElsewhere(true)
      if (data === "opened") say("here")
    })
    ask()
    addEventListener("pagehide", leave)
    addEventListener("pageshow", ask)
    return () => {
      removeEventListener("pagehide", leave)
      removeEventListener("pageshow", ask)
      leave()
      channel.close()
    }
  }, [name])
  return isElsewhere
}
