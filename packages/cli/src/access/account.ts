/** `logout`, `whoami` and `context`. */
import { AtelierError } from "@atelier/client"
import * as logins from "@atelier/client/logins"
import * as users from "@atelier/client/users"
import type { Context, Grant } from "../contexts/Contexts.js"
import { exitCodes, Failure } from "../Failure.js"
import type { Session } from "../Session.js"

const absent = (name: string, program: string): Failure =>
  new Failure({ message: `There is no context "${name}".`, hint: `"${program} context list" lists them.`, code: exitCodes.notFound })

/** Ends a login through the browser: its refresh token ends with its token (RFC 7009). */
const revoke = async ({ url }: Context, { clientId, refreshToken }: Grant, { signal }: Session): Promise<void> => {
  const { post } = await import("./oauth.js")
  const body = new URLSearchParams({ token: refreshToken, client_id: clientId })
  await post(signal, `${url}/oauth2/revoke`, { body }, "The tokens cannot be ended")
}

/** Ends the token at the service, as far as it answers, and forgets it in any case. A renewal by another process comes before, or finds no login. */
export const logout = async (_: object, session: Session): Promise<void> => {
  const { contexts, out, program, signal } = session
  const name = await session.contextName()
  const notLoggedIn = new Failure({
    message: "You are not logged in.",
    hint: `"${program} context list" lists the logins.`,
    code: exitCodes.notLoggedIn
  })
  if (name === undefined || (await contexts.describe(name)) === undefined) throw notLoggedIn
  const url = await contexts.alone(name, signal, async () => {
    const context = await contexts.read(name)
    if (context === undefined) throw notLoggedIn
    try {
      if (context.grant === undefined) await logins.logOut(session.clientOf(context), { signal })
      else await revoke(context, context.grant, session)
    } catch (error) {
      if (!(error instanceof AtelierError) && !(error instanceof Failure)) throw error
      if (!(error instanceof AtelierError && error.status === 401)) out.warn(`the service did not end the login: ${error.message}`)
    }
    await contexts.remove(name)
    return context.url
  })
  out.say(`Logged out of ${url}.`)
}

export const whoami = async (_: object, session: Session): Promise<void> => {
  const client = await session.client()
  const user = await users.getUser(client, { user: "me" }, { signal: session.signal })
  session.out.one({ ...user, url: client.baseUrl }, [
    ["Username", user.username],
    ["Email", user.email],
    ["Roles", user.roles.map(({ name }) => name).join(", ") || "member"],
    ["Service", client.baseUrl]
  ])
}

export const listContexts = async (_: object, { contexts, out }: Session): Promise<void> => {
  const current = await contexts.current()
  const names = await contexts.names()
  const rows = await Promise.all(
    names.map(async (name) => {
      const context = await contexts.describe(name)
      return { name, url: context?.url ?? "", username: context?.username ?? "", current: name === current }
    })
  )
  out.list(
    rows,
    [
      { title: "NAME", of: ({ name }) => name, isKey: true },
      { title: "CURRENT", of: (row) => (row.current ? "*" : "") },
      { title: "USER", of: ({ username }) => username },
      { title: "ADDRESS", of: ({ url }) => url }
    ],
    "There is no login."
  )
}

export const useContext = async ({ name }: { readonly name: string }, { contexts, out, program }: Session): Promise<void> => {
  if ((await contexts.describe(name)) === undefined) throw absent(name, program)
  await contexts.use(name)
  out.say(`The context is "${name}".`)
}

export const removeContext = async ({ name }: { readonly name: string }, { contexts, out, program, signal }: Session): Promise<void> => {
  if (!(await contexts.names()).includes(name)) throw absent(name, program)
  await contexts.alone(name, signal, () => contexts.remove(name))
  out.say(`Removed "${name}". Its token lives on until it expires.`)
}
