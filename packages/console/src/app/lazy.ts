/** Screens and parts of screens whose files load when they are first needed. */
import { lazyRouteComponent } from "@tanstack/react-router"
import { type ComponentType, lazy, type LazyExoticComponent } from "react"

/** The server answers, and has not these files any more: it is of another version. */
export class FilesLost extends Error {
  override readonly name = "FilesLost"
}

/** Whether the server answers at all. */
export const doesServerAnswer = async (): Promise<boolean> => {
  const answer = await fetch(location.href, { method: "HEAD", cache: "no-store" }).catch(() => undefined)
  return answer !== undefined && answer.status < 500
}

const firstPause = 500
const maximumPause = 15_000

/** Loads files, again and again while the server is away. Fails with `FilesLost`. */
const persistently = async <A>(load: () => Promise<A>): Promise<A> => {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await load()
    } catch (cause) {
      if (attempt > 0 && (await doesServerAnswer())) throw new FilesLost("Files of the console could not be loaded.", { cause })
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(maximumPause, firstPause * 2 ** attempt)))
  }
}

/** The component of a route. The screen before it stays while it loads. */
export const lazyScreen = <Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name
) => lazyRouteComponent(() => persistently(load), name)

let isPartLost = false
const listeners = new Set<() => void>()

/** Whether a part of the page is missing, because the server has its files no more. */
export const arePartsLost = (): boolean => isPartLost

export const onPartsLost = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Stands for a part whose files are lost: the rest of the page, with what was typed there, stays. */
const Missing = () => null

/** A part of a screen or of the frame, which stands in a `Suspense`. React's own `lazy` would end the whole screen at the first failure. */
export const lazyPart = <Props extends object>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> =>
  lazy(async (): Promise<{ readonly default: ComponentType<Props> }> => {
    try {
      return { default: await persistently(load) }
    } catch {
      isPartLost = true
      for (const listener of listeners) listener()
      return { default: Missing }
    }
  })
