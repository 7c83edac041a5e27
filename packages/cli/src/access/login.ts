/** `login`: by password, by token or by browser. */
import * as logins from "@atelier/client/logins"
import { checkName } from "../contexts/Contexts.js"
import { usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { readAll } from "../terminal/Prompts.js"
import { brandAt, keep, readAddress } from "./loginContext.js"

interface LoginInput {
  readonly url: string | undefined
  readonly name: string | undefined
  readonly email: string | undefined
  readonly passwordStdin: boolean
  readonly tokenStdin: boolean
  readonly browser: boolean
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
  const address = email ?? (await session.ask.line("Email address"))
  const password = passwordStdin ? await readAll(session.stdin) : await session.ask.secret("Password")
  const client = session.clientOf({ url, brand })
  const { session_token } = await logins.logIn(client, { body: { email: address, password } }, { signal: session.signal })
  return session_token
}

export const login = async (input: LoginInput, session: Session): Promise<void> => {
  const name = input.name === undefined ? undefined : checkName(input.name)
  if (input.tokenStdin && (input.passwordStdin || input.email !== undefined)) throw usage("--token-stdin: cannot be used with a password.")
  const byPassword = input.passwordStdin || input.email !== undefined
  if (!input.tokenStdin && !byPassword && !input.browser && !session.ask.canAsk) {
    throw usage("There is no terminal to log in on.", "give a token with --token-stdin, or a password with --email and --password-stdin.")
  }
  const url = await addressOf(input, session)
  const brand = await brandAt(session, url)
  if (input.tokenStdin) return keep(session, { url, brand, token: (await readAll(session.stdin)).trim() }, name)
  if (byPassword) return keep(session, { url, brand, token: await passwordLogin(session, url, brand, input) }, name)
  const { browserLogin } = await import("./browserLogin.js")
  return keep(session, { url, brand, token: await browserLogin(session, { url, opens: !input.noOpen, scopes: input.scope }) }, name)
}
