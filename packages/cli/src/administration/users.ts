/** `users`. */
import { paginate, type User } from "@atelier/client"
import * as users from "@atelier/client/users"
import { Failure, usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { readAll } from "../terminal/Prompts.js"
import { ago } from "../terminal/text.js"
import { findOrganization, ofUser } from "../workspaces/find.js"

export const listUsers = async ({ search }: { readonly search: string | undefined }, session: Session): Promise<void> => {
  const client = await session.client()
  const found: Array<User> = []
  for await (const each of paginate((page) => users.listUsers(client, { ...page, q: search ?? "" }, { signal: session.signal })))
    found.push(each)
  session.out.list(found, [
    { title: "USERNAME", of: ({ username }) => username, isKey: true },
    { title: "EMAIL", of: ({ email }) => email },
    { title: "STATUS", of: ({ status }) => status },
    { title: "ROLES", of: ({ roles }) => roles.map(({ name }) => name).join(" ") },
    { title: "LAST SEEN", of: ({ last_seen_at }) => ago(last_seen_at) }
  ])
}

const tell = ({ out }: Session, user: User, sentence: string): void => {
  if (out.format !== "table") out.one(user, [])
  out.say(sentence)
}

export const showUser = async ({ user }: { readonly user: string }, session: Session): Promise<void> => {
  const found = await ofUser(user, users.getUser(await session.client(), { user }, { signal: session.signal }))
  session.out.one(found, [
    ["Username", found.username],
    ["Name", found.name ?? ""],
    ["Email", found.email],
    ["Status", found.status],
    ["Login", found.login_type],
    ["Roles", found.roles.map(({ name }) => name).join(", ") || "member"],
    ["Created", ago(found.created_at)],
    ["Last seen", ago(found.last_seen_at)]
  ])
}

interface CreateInput {
  readonly username: string
  readonly email: string | undefined
  readonly name: string | undefined
  readonly passwordStdin: boolean
  readonly organization: ReadonlyArray<string>
}

export const createUser = async ({ email, name, organization, passwordStdin, username }: CreateInput, session: Session): Promise<void> => {
  const { ask, signal, stdin } = session
  const address = email ?? (ask.canAsk ? await ask.line("Email address") : undefined)
  if (address === undefined) throw usage("--email: is missing.", "give the user's email address.")
  const password = passwordStdin ? await readAll(stdin) : await ask.secret("Password")
  const client = await session.client()
  const names = organization.length === 0 ? ["default"] : organization
  const organization_ids = await Promise.all(names.map(async (each) => (await findOrganization(client, each, session)).id))
  const body = { username, email: address, name, password, organization_ids }
  tell(session, await users.createUser(client, { body }, { signal }), `Created the user ${username}.`)
}

export const suspendUser = async ({ user }: { readonly user: string }, session: Session): Promise<void> =>
  tell(
    session,
    await ofUser(user, users.suspendUser(await session.client(), { user }, { signal: session.signal })),
    `${user} is suspended.`
  )

export const activateUser = async ({ user }: { readonly user: string }, session: Session): Promise<void> =>
  tell(session, await ofUser(user, users.activateUser(await session.client(), { user }, { signal: session.signal })), `${user} is active.`)

export const removeUser = async ({ user, yes }: { readonly user: string; readonly yes: boolean }, session: Session): Promise<void> => {
  if (!yes && !session.ask.canAsk) throw usage(`The user ${user} would be deleted.`, "--yes deletes without a question.")
  if (!yes && !(await session.ask.confirm(`Delete the user ${user}?`))) throw new Failure({ message: "Nothing was deleted." })
  await ofUser(user, users.deleteUser(await session.client(), { user }, { signal: session.signal }))
  session.out.say(`${user} is deleted.`)
}
