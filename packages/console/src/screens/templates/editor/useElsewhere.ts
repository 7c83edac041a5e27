import { useEffect, useRef, useState } from "react"

type Word = "opened" | "here" | "closed" | { readonly published: string }

/** What other windows of this browser do with what has this name. */
export const useElsewhere = (name: string) => {
  const [isElsewhere, setElsewhere] = useState(false)
  const [published, setPublished] = useState<string | undefined>()
  const speak = useRef<(word: Word) => void>(() => undefined)
  useEffect(() => {
    const channel = new BroadcastChannel(`atelier ${name}`)
    // A channel is of one origin, and takes no other argument
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    const say = (word: Word): void => channel.postMessage(word)
    speak.current = say
    const ask = (): void => {
      setElsewhere(false)
      say("opened")
    }
    const leave = (): void => say("closed")
    channel.addEventListener("message", ({ data }: MessageEvent<Word>) => {
      if (data === "closed") return ask()
      if (typeof data === "object") return setPublished(data.published)
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
  return {
    /** Whether another window shows it. */
    isElsewhere,
    /** The name of the version that another window has published of it. */
    published,
    /** Tells the other windows that this one has published it, as a version of this name. */
    tellPublished: (version: string): void => speak.current({ published: version }),
    /** The user goes on with what is here. */
    forgetPublished: (): void => setPublished(undefined)
  }
}
