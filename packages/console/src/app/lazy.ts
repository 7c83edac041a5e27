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

/** A part of a screen, which stands in a `Suspense`. */
export const lazyPart = <Props extends object>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> =>
  lazy(async () => ({ default: await persistently(load) }))
