/** `login`: by password, by token or by browser. */
import { AtelierError } from "@atelier/client"
import * as logins from "@atelier/client/logins"
import { checkName } from "../contexts/Contexts.js"
import { failureOf, usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { readAll } from "../terminal/Prompts.js"
import type { Issued } from "./oauth.js"
import { readAddress } from "./address.js"
import { brandAt, keep } from "./loginContext.js"

interface LoginInput {
  readonly url: string | undefined
  readonly name: string | undefined
  readonly email: string | undefined
  readonly passwordStdin: boolean
  readonly tokenStdin: boolean
  readonly browser: boolean
  readonly device: boolean
  readonly noKeyStore: boolean
  readonly noOpen: boolean
  readonly scope: ReadonlyArray<string>
}

const addressOf = async ({ url }: LoginInput, session: Session): Promise<string> => {
  const given = url ?? session.url ?? (session.ask.canAsk ? await session.ask.line("Address of the service") : undefined)
  if (given === undefined || given === "")
    throw usage("url: is missing.", `for example "${session.program} login https://dev.example.com".`)
  return readAddress(given)
}

const passwordLogin = async (session: Session, url: string, brand: string, { email, passwordStdin }: LoginInput): Promise<string> => {
  if (!passwordStdin && !session.ask.canAsk) {
    throw usage("There is no terminal to ask for the password on.", "give it with --password-stdin.")
  }
  const address = email ?? (await session.ask.line("Email address"))
  const password = passwordStdin ? await readAll(session.stdin) : await session.ask.secret("Password")
  const client = session.clientOf({ url, brand })
  const { session_token } = await logins.logIn(client, { body: { email: address, password } }, { signal: session.signal })
  return session_token
}

/** Gets tokens in the way that the user has chosen; through the browser unless another one is named. */
const issuedBy = async (input: LoginInput, url: string, brand: string, session: Session): Promise<Issued> => {
  if (input.tokenStdin) return { token: (await readAll(session.stdin)).trim(), grant: undefined }
  if (isByPassword(input)) return { token: await passwordLogin(session, url, brand, input), grant: undefined }
  const scopes = input.scope
  if (input.device) return (await import("./deviceLogin.js")).deviceLogin(session, { url, scopes })
  return (await import("./browserLogin.js")).browserLogin(session, { url, scopes, opens: !input.noOpen })
}

const isByPassword = ({ email, passwordStdin }: LoginInput): boolean => passwordStdin || email !== undefined

const refusedHint = (input: LoginInput): string => {
  if (input.tokenStdin) return "check the token."
  return isByPassword(input) ? "check the email address and the password." : "log in again."
}

export const login = async (input: LoginInput, session: Session): Promise<void> => {
  const name = input.name === undefined ? undefined : checkName(input.name)
  const ways = [input.tokenStdin, isByPassword(input), input.device, input.browser].filter(Boolean).length
  if (ways > 1) throw usage("A password, a token, a device and the browser: only one of them can log in.")
  if (ways === 0 && !session.ask.canAsk) {
    throw usage("There is no terminal to log in on.", "give a token with --token-stdin, or a password with --email and --password-stdin.")
  }
  const url = await addressOf(input, session)
  try {
    const brand = await brandAt(session, url)
    const issued = await issuedBy(input, url, brand, session)
    await keep(session, { url, brand, ...issued }, { name, place: input.noKeyStore ? "file" : "key store" })
  } catch (error) {
    if (!(error instanceof AtelierError) || session.signal.aborted) throw error
    throw failureOf(error, session.program, { 0: "check the address and the network.", 401: refusedHint(input) })
  }
}
