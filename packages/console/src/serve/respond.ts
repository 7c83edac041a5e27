/** The console on any server that speaks the Fetch API. */
import { documentOf } from "./document.js"
import { fileAnswer } from "./fileAnswer.js"
import { policyOf, type Sources } from "./policy.js"
import type { ConsoleSettings } from "./settings.js"
import { fileOf, isRoute, type Site } from "./site.js"

/** How a server has the console. */
export interface Host {
  readonly site: Site
  /** Reads a file below `folder`. */
  readonly read: (path: string) => Promise<Uint8Array<ArrayBuffer>>
  readonly settings: ConsoleSettings
  /** Where the console may load from, beside this server. */
  readonly sources?: Omit<Sources, "nonce">
}

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

const digest = async (text: string): Promise<string> =>
  base64(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))))

/**
 * Answers a request for a file of the console, or for one of its screens. Undefined for a path outside its base, for another method, and for a
 * program's request for a path that is no file. The server judges who may see the console.
 */
export const respond = async (request: Request, { read, settings, site, sources = {} }: Host): Promise<Response | undefined> => {
  const { headers, method, url } = request
  const { pathname } = new URL(url)
  if ((method !== "GET" && method !== "HEAD") || !`${pathname}/`.startsWith(settings.base)) return undefined
  const path = pathname.slice(settings.base.length)
  const header = (name: string) => headers.get(name) ?? undefined
  const file = fileOf(site, path)
  if (file !== undefined) {
    const { body, ...answer } = fileAnswer(file, method, header)
    return new Response(body === undefined ? null : await read(body), answer)
  }
  if (!/\btext\/html\b/i.test(header("accept") ?? "")) return undefined
  const html = new TextDecoder().decode(await read("index.html"))
  const nonce = base64(crypto.getRandomValues(new Uint8Array(16)))
  const { body, ...answer } = documentOf(
    { html, settings, nonce },
    {
      method,
      isKnown: isRoute(site, `/${path}`),
      noneMatch: header("if-none-match"),
      policy: policyOf({ ...sources, nonce }),
      tag: await digest(html + JSON.stringify(settings))
    }
  )
  return new Response(body ?? null, answer)
}
