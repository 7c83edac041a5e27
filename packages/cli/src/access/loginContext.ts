/** Keeps a login as a context. */
import type { Client } from "@atelier/client"
import * as deployment from "@atelier/client/deployment"
import * as users from "@atelier/client/users"
import { checkName, type Context, type Place } from "../contexts/Contexts.js"
import { Failure, exitCodes } from "../Failure.js"
import type { Session } from "../Session.js"

/** The name of a context unless the user gives one: the host, and the port if it is not the usual one. */
export const nameOf = (url: string): string => {
  const { host } = new URL(url)
  return checkName(host.replace(/[^0-9A-Za-z.]+/g, "-").replace(/^[-.]+|[-.]+$/g, ""))
}

const knownHeader = /^x-([\da-z-]+)-build-version$/

/** The brand of a service, which names its headers; fails if there is no service of ours at the address. */
export const brandAt = async (session: Session, url: string): Promise<string> => {
  const client = session.clientOf({ url, brand: "Service" })
  let brand: string | undefined
  const asked: Client = {
    ...client,
    fetch: async (address, init) => {
      const response = await client.fetch(address, init)
      brand = [...response.headers.keys()].flatMap((name) => knownHeader.exec(name)?.[1] ?? [])[0]
      return response
    }
  }
  const { version } = await session.out.waiting(`Asking ${url}`, deployment.buildInfo(asked, { signal: session.signal }))
  if (typeof version !== "string") {
    throw new Failure({ message: `There is no Atelier at ${url}.`, hint: "check the address.", code: exitCodes.unreachable })
  }
  return brand === undefined || brand === "service" ? "Service" : brand
}

interface Keeping {
  /** The context's name; made of the address unless given. */
  readonly name: string | undefined
  readonly place: Place
}

/** Checks a login and keeps it as the current context. */
export const keep = async (session: Session, login: Omit<Context, "username">, { name, place }: Keeping): Promise<void> => {
  const user = await users.getUser(session.clientOf(login), { user: "me" }, { signal: session.signal })
  const context = name ?? nameOf(login.url)
  // A process that renews the login of before would write its tokens over these
  await session.contexts.alone(context, session.signal, () => session.contexts.write(context, { ...login, username: user.username }, place))
  await session.contexts.use(context)
  session.out.say(`Logged in to ${login.url} as ${user.username}. The context is "${context}".`)
}
