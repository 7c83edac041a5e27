/** What a running command stands on. */
import type { Client, SocketConstructor } from "@atelier/client"
import { createClient } from "@atelier/client"
import type { Context, Contexts } from "./contexts/Contexts.js"
import { exitCodes, Failure } from "./Failure.js"
import { httpFetch } from "./requests/httpFetch.js"
import type { Output } from "./terminal/Output.js"
import type { Prompts } from "./terminal/Prompts.js"
import { differsMuch, version } from "./version.js"

export interface Session {
  /** The word that starts the program. */
  readonly program: string
  readonly env: NodeJS.ProcessEnv
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly out: Output
  readonly ask: Prompts
  /** Ends with the first interruption. */
  readonly signal: AbortSignal
  readonly contexts: Contexts
  /** The address that was given instead of a context's. */
  readonly url: string | undefined
  /** The context that was named, or the current one. */
  readonly contextName: () => Promise<string | undefined>
  /** A client with the user's token. @throws Failure without a login */
  readonly client: () => Promise<Client>
  /** A client that opens WebSockets too. `onLost` is called when the connection of one is lost. */
  readonly liveClient: (onLost?: () => void) => Promise<Client>
  /** A client of any address. */
  readonly clientOf: (context: Pick<Context, "url" | "brand"> & { readonly token?: string | undefined }) => Client
}

type Base = Omit<Session, "client" | "liveClient" | "clientOf" | "contextName">

const notLoggedIn = (program: string): Failure =>
  new Failure({
    message: "You are not logged in.",
    hint: `"${program} login URL" logs in; programs set ATELIER_URL and ATELIER_TOKEN.`,
    code: exitCodes.notLoggedIn
  })

/** The address in a log: the query may have secrets. */
const loggedUrl = (url: string): string => url.replace(/\?.*$/, "?…")

/** A context, and its name unless it is of the environment. */
interface InUse {
  readonly context: Context
  readonly name: string | undefined
}

interface Credential {
  readonly current: () => string | undefined | Promise<string | undefined>
  /** A token in place of one that was refused; undefined without a renewed one. */
  readonly renew: (refused: string | undefined) => Promise<string | undefined>
}

/** Sends a request once more with a new token, if its body is still there. */
const again = async (
  refusal: Response,
  address: string,
  init: RequestInit,
  renew: Credential["renew"],
  header: string
): Promise<Response> => {
  if (init.body !== undefined && typeof init.body !== "string") return refusal
  // The client gives them as an object
  const headers = init.headers as Readonly<Record<string, string>>
  const token = await renew(headers[header])
  if (token === undefined) return refusal
  await refusal.text()
  return httpFetch(address, { ...init, headers: { ...headers, [header]: token } })
}

export const makeSession = (base: Base & { readonly context: string | undefined }): Session => {
  const { contexts, env, out, program } = base
  let warned = false

  const warnOnce = (response: Response, brand: string): void => {
    const served = response.headers.get(`x-${brand}-build-version`)
    if (warned || served === null || brand !== "Service" || !differsMuch(version, served)) return
    warned = true
    out.warn(`this program has version ${version} and the service ${served}: update the older one.`)
  }

  const contextName = async (): Promise<string | undefined> => base.context ?? (await contexts.current())

  /** A login's token, which is renewed where the login can be. */
  const credentialOf = (context: Context, name: string | undefined): Credential => {
    if (name === undefined || context.grant === undefined) return { current: () => context.token, renew: async () => undefined }
    let now = context
    let renewing: Promise<Context> | undefined
    const renew = async (refused: string | undefined): Promise<string> => {
      const { renewed } = await import("./access/renewal.js")
      // Another request of this command has renewed it since
      if (now.token !== refused) return now.token
      renewing ??= renewed(now, { contexts, name, program, signal: base.signal })
        .then((context) => (now = context))
        .finally(() => (renewing = undefined))
      return (await renewing).token
    }
    return { current: async () => ((await import("./access/renewal.js")).isDue(now) ? renew(now.token) : now.token), renew }
  }

  const contextInUse = async (): Promise<InUse> => {
    const token = env["ATELIER_TOKEN"]
    if (base.url !== undefined && token !== undefined && token !== "") {
      return { context: { url: base.url, token, username: "", brand: env["ATELIER_BRAND"] ?? "Service" }, name: undefined }
    }
    const name = await contextName()
    const context = name === undefined ? undefined : await contexts.describe(name)
    if (base.context !== undefined && context === undefined) {
      throw new Failure({
        message: `There is no context "${base.context}".`,
        hint: `"${program} context list" lists them.`,
        code: exitCodes.notLoggedIn
      })
    }
    if (name === undefined || context === undefined) throw notLoggedIn(program)
    if (base.url !== undefined && new URL(base.url).href !== new URL(context.url).href) {
      // A token goes nowhere but to the service that it is of
      throw new Failure({
        message: `The login is for ${context.url}, and not for ${base.url}.`,
        hint: `log in there, or set ATELIER_TOKEN.`,
        code: exitCodes.notLoggedIn
      })
    }
    if (token !== undefined && token !== "") return { context: { ...context, token }, name: undefined }
    const whole = await contexts.read(name)
    if (whole === undefined) throw notLoggedIn(program)
    return { context: whole, name }
  }

  const make = ({ brand, url }: Pick<Context, "url" | "brand">, { current, renew }: Credential, WebSocket?: SocketConstructor): Client =>
    createClient({
      baseUrl: url,
      brand,
      token: current,
      ...(WebSocket === undefined ? {} : { WebSocket }),
      headers: { "User-Agent": `atelier-cli/${version}` },
      fetch: async (address, init) => {
        const begun = performance.now()
        try {
          const first = await httpFetch(address, init)
          const response = first.status === 401 ? await again(first, address, init, renew, `${brand}-Session-Token`) : first
          out.debug(`${init.method} ${loggedUrl(address)} ${response.status} ${Math.round(performance.now() - begun)} ms`)
          warnOnce(response, brand)
          return response
        } catch (error) {
          out.debug(`${init.method} ${loggedUrl(address)} failed after ${Math.round(performance.now() - begun)} ms`)
          throw error
        }
      }
    })

  return {
    ...base,
    contextName,
    clientOf: (context) => make(context, { current: () => context.token, renew: async () => undefined }),
    client: async () => {
      const { context, name } = await contextInUse()
      return make(context, credentialOf(context, name))
    },
    liveClient: async (onLost) => {
      const { context, name } = await contextInUse()
      return make(context, credentialOf(context, name), (await import("./terminal/LiveSocket.js")).liveSocket(onLost))
    }
  }
}
