/** New tokens for a login whose token has ended or is about to. */
import type { Context, Contexts } from "../contexts/Contexts.js"
import { exitCodes, Failure } from "../Failure.js"
import { grantTypes, issuedIn, OAuthRefusal, post } from "./oauth.js"

/** Milliseconds before the end of a token at which it is renewed. */
const ahead = 60_000

/** Whether the token of a context ends soon. */
export const isDue = ({ grant }: Context): boolean => grant !== undefined && grant.expiresAt - ahead < Date.now()

const ended = (program: string, url: string): Failure =>
  new Failure({
    message: `The login to ${url} has ended.`,
    hint: `log in again with "${program} login ${url}".`,
    code: exitCodes.notLoggedIn
  })

interface Renewal {
  readonly contexts: Contexts
  readonly name: string
  readonly program: string
  readonly signal: AbortSignal
}

/**
 * Returns the context with new tokens, and keeps them. A refresh token is good once: of several processes one renews, and the others read what it has
 * kept. The signal ends the wait for other processes, and nothing after it.
 */
export const renewed = (before: Context, { contexts, name, program, signal }: Renewal): Promise<Context> =>
  contexts.alone(name, signal, async () => {
    const now = await contexts.read(name)
    if (now?.grant === undefined) throw ended(program, before.url)
    if (now.token !== before.token) return now
    const { clientId, refreshToken } = now.grant
    const body = new URLSearchParams({ grant_type: grantTypes.refresh, refresh_token: refreshToken, client_id: clientId })
    const what = "The login cannot be renewed"
    try {
      // The user's interruption would lose the login: the service has ended the old refresh token when the answer is on its way
      const answer = await post(undefined, `${now.url}/oauth2/tokens`, { body }, what)
      const { grant = now.grant, token } = issuedIn(answer, clientId, what)
      const next = { ...now, token, grant }
      await contexts.write(name, next)
      return next
    } catch (error) {
      throw error instanceof OAuthRefusal && error.answer["error"] === "invalid_grant" ? ended(program, now.url) : error
    }
  })
