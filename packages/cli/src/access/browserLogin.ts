/** A login by browser: the code flow of OAuth 2 with PKCE (RFC 8252, RFC 7636) against the service's own authorization server. */
import { spawn } from "node:child_process"
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { exitCodes, Failure } from "../Failure.js"
import type { Session } from "../Session.js"
import { grantTypes, type Issued, issuedIn, post, refused, register, scopeOf } from "./oauth.js"

/** Milliseconds that the user may take. */
const patience = 300_000

const random = (): string => randomBytes(32).toString("base64url")

const isSame = (one: string, other: string): boolean => one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

const page = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" }).end(`${text}\n`)
}

/** Waits on the loopback address for the browser's way back. */
const listen = async (state: string) => {
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  // A server that listens on a port has an address
  const { port } = server.address() as AddressInfo
  const code = new Promise<string>((resolve, reject) => {
    server.on("request", ({ url = "/" }, response) => {
      const { pathname, searchParams } = new URL(url, "http://127.0.0.1")
      if (pathname !== "/callback") return page(response, 404, "There is nothing here.")
      if (!isSame(searchParams.get("state") ?? "", state)) return page(response, 400, "This is not the login that was begun.")
      const given = searchParams.get("code")
      if (given === null) {
        page(response, 400, "The login was refused. You can close this page.")
        return reject(refused("The login was refused", Object.fromEntries(searchParams)))
      }
      page(response, 200, "You are logged in. You can close this page.")
      return resolve(given)
    })
  })
  code.catch(() => {})
  return {
    redirect: `http://127.0.0.1:${port}/callback`,
    code,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

const openers: Readonly<Record<string, ReadonlyArray<string>>> = { darwin: ["open"], win32: ["rundll32", "url.dll,FileProtocolHandler"] }

/** Opens an address in the user's browser; without one, nothing happens. */
export const openInBrowser = (address: string, env: NodeJS.ProcessEnv): void => {
  const [program = "xdg-open", ...args] = env["BROWSER"] === undefined ? (openers[process.platform] ?? ["xdg-open"]) : [env["BROWSER"]]
  spawn(program, [...args, address], { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref()
}

const withTime = async <A>(promise: Promise<A>, signal: AbortSignal): Promise<A> => {
  let end: () => void = () => undefined
  const ended = new Promise<never>((_, reject) => {
    const failure = new Failure({ message: "No login came back from the browser.", code: exitCodes.notLoggedIn })
    const timer = setTimeout(() => reject(failure), patience)
    const left = (): void => reject(signal.reason)
    signal.addEventListener("abort", left)
    end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", left)
    }
  })
  return Promise.race([promise, ended]).finally(end)
}

export interface BrowserLogin {
  readonly url: string
  readonly opens: boolean
  readonly scopes: ReadonlyArray<string>
}

/** Sends the user to the browser, and returns the tokens that come back. */
export const browserLogin = async (session: Session, { opens, scopes, url }: BrowserLogin): Promise<Issued> => {
  const state = random()
  const verifier = random()
  const client = await register(session, url, {
    // The port of a loopback address may differ from login to login
    redirect_uris: ["http://127.0.0.1/callback"],
    grant_types: [grantTypes.code, grantTypes.refresh]
  })
  const waiting = await listen(state)
  try {
    const request = new URLSearchParams({
      response_type: "code",
      client_id: client,
      redirect_uri: waiting.redirect,
      state,
      scope: scopeOf(scopes),
      code_challenge_method: "S256",
      code_challenge: createHash("sha256").update(verifier).digest("base64url")
    })
    const address = `${url}/oauth2/authorize?${request}`
    session.stderr.write(`Log in at this address:\n\n  ${address}\n\n`)
    if (opens) openInBrowser(address, session.env)
    const code = await session.out.waiting("Waiting for the browser", withTime(waiting.code, session.signal))
    const body = new URLSearchParams({
      grant_type: grantTypes.code,
      code,
      client_id: client,
      redirect_uri: waiting.redirect,
      code_verifier: verifier
    })
    const what = "The login cannot be completed"
    return issuedIn(await post(session.signal, `${url}/oauth2/tokens`, { body }, what), client, what)
  } finally {
    waiting.close()
  }
}
