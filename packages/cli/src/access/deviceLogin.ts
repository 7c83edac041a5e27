/** A login with a code that the user types on another device (RFC 8628). */
import { setTimeout as pause } from "node:timers/promises"
import { exitCodes, Failure, isPassing } from "../Failure.js"
import type { Session } from "../Session.js"
import { plain } from "../terminal/text.js"
import { grantTypes, type Issued, issuedIn, OAuthRefusal, post, register, scopeOf } from "./oauth.js"

/** Milliseconds that a device waits longer between two questions once it has asked too often. */
const slower = 5_000

/** Milliseconds to which the wait grows while the service does not answer. */
const slowest = 60_000

interface Device {
  readonly code: string
  readonly client: string
  /** Milliseconds between two questions. */
  readonly interval: number
  /** Milliseconds that the code is good for. */
  readonly lifetime: number
}

const what = "The login cannot be completed"

/** Asks until the user has decided. */
const decided = async ({ signal }: Session, url: string, { client, code, interval, lifetime }: Device): Promise<Issued> => {
  const body = new URLSearchParams({ grant_type: grantTypes.device, client_id: client, device_code: code })
  const until = performance.now() + lifetime
  for (let wait = interval; performance.now() < until;) {
    await pause(wait, undefined, { signal })
    try {
      return issuedIn(await post(signal, `${url}/oauth2/tokens`, { body }, what), client, what)
    } catch (error) {
      const { error: reason } = error instanceof OAuthRefusal ? error.answer : {}
      if (reason === "slow_down") wait += slower
      // Twice as long each time (RFC 8628 §3.5)
      else if (isPassing(error)) wait = Math.max(wait, Math.min(2 * wait, slowest))
      else if (reason !== "authorization_pending") throw error
    }
  }
  throw new Failure({ message: "No user has entered the code in time.", hint: "log in again.", code: exitCodes.notLoggedIn })
}

/** Shows the user where to enter which code, and returns the tokens once the user has allowed it. */
export const deviceLogin = async (session: Session, { scopes, url }: { readonly url: string; readonly scopes: ReadonlyArray<string> }) => {
  const client = await register(session, url, { redirect_uris: [], grant_types: [grantTypes.device, grantTypes.refresh] })
  const body = new URLSearchParams({ client_id: client, scope: scopeOf(scopes) })
  const begun = await post(session.signal, `${url}/oauth2/device_authorization`, { body }, "The login cannot begin")
  const { device_code, expires_in, interval, user_code, verification_uri } = begun
  const [shownCode, address] = [user_code, verification_uri].map((value) => plain(String(value)))
  session.stderr.write(`Open this address on any device, and enter the code ${shownCode}:\n\n  ${address}\n\n`)
  const device: Device = {
    client,
    code: String(device_code),
    interval: 1000 * (Number(interval) || 5),
    lifetime: 1000 * (Number(expires_in) || 600)
  }
  return session.out.waiting("Waiting for the code", decided(session, url, device))
}
