/** The program as a client of the service's own authorization server (RFC 6749, RFC 7591). */
import type { Grant } from "../contexts/Contexts.js"
import { exitCodes, Failure } from "../Failure.js"
import { httpFetch } from "../requests/httpFetch.js"
import type { Session } from "../Session.js"

export const grantTypes = {
  code: "authorization_code",
  refresh: "refresh_token",
  device: "urn:ietf:params:oauth:grant-type:device_code"
} as const

/** Milliseconds that one answer of the service may take. */
const answerTime = 30_000

/** The tokens of a login. */
export interface Issued {
  readonly token: string
  readonly grant: Grant | undefined
}

type Answer = Readonly<Record<string, unknown>>

/** An error of RFC 6749 §5.2. */
export class OAuthRefusal extends Failure {
  constructor(
    what: string,
    readonly answer: Answer
  ) {
    super({
      message: `${what}: ${String(answer["error_description"] ?? answer["error"] ?? "the service refused it.")}`,
      hint: "log in with a token (--token-stdin) or a password (--email) instead.",
      code: exitCodes.notLoggedIn
    })
  }
}

export const refused = (what: string, answer: Answer): OAuthRefusal => new OAuthRefusal(what, answer)

interface Form {
  readonly body: URLSearchParams | string
  readonly headers?: Readonly<Record<string, string>>
}

/** The service did not answer, or could not. */
const unanswered = (what: string, reason: string, cause?: unknown): Failure =>
  new Failure({ message: `${what}: the service ${reason}.`, code: exitCodes.unreachable, cause })

/** Asks an endpoint. `what` says what failed, if it does. Without a signal, nothing but its time ends the request. */
export const post = async (ended: AbortSignal | undefined, url: string, { body, headers }: Form, what: string): Promise<Answer> => {
  const isForm = typeof body !== "string"
  // `AbortSignal.any` lets garbage collection take a signal of `AbortSignal.timeout`, whose time then never ends
  const controller = new AbortController()
  const end = (): void => controller.abort(ended?.reason)
  const timer = setTimeout(end, answerTime)
  if (ended?.aborted === true) end()
  ended?.addEventListener("abort", end)
  try {
    const response = await httpFetch(url, {
      body: String(body),
      headers: isForm ? { "Content-Type": "application/x-www-form-urlencoded" } : { ...headers },
      method: "POST",
      redirect: "error",
      signal: controller.signal
    })
    const answer: Answer = Object(await response.json().catch(() => ({})))
    if (response.status === 429 || response.status >= 500) throw unanswered(what, `answered with the status ${response.status}`)
    if (!response.ok) throw refused(what, answer)
    return answer
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    ended?.throwIfAborted()
    throw unanswered(what, "did not answer", cause)
  } finally {
    clearTimeout(timer)
    ended?.removeEventListener("abort", end)
  }
}

/** Registers the program, and returns its id. */
export const register = async ({ signal }: Session, url: string, what: Answer): Promise<string> => {
  const body = JSON.stringify({ client_name: "Atelier command line", token_endpoint_auth_method: "none", ...what })
  const headers = { "Content-Type": "application/json" }
  const { client_id } = await post(signal, `${url}/oauth2/register`, { body, headers }, "The program cannot be registered")
  return String(client_id)
}

/** What the user may do, except to give credentials or rights, and what is asked for in addition. */
export const scopeOf = (more: ReadonlyArray<string>): string => ["coder:all", ...more].join(" ")

/** Reads the answer of the token endpoint. */
export const issuedIn = (answer: Answer, clientId: string, what: string): Issued => {
  const { access_token: token, expires_in: seconds, refresh_token: refreshToken } = answer
  if (typeof token !== "string") throw refused(what, {})
  if (typeof refreshToken !== "string") return { token, grant: undefined }
  return { token, grant: { refreshToken, clientId, expiresAt: Date.now() + 1000 * (Number(seconds) || 0) } }
}
