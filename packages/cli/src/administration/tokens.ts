/** `tokens`. */
import * as keys from "@atelier/client/keys"
import { exitCodes, Failure } from "../Failure.js"
import type { Session } from "../Session.js"
import { ago } from "../terminal/text.js"

export const listTokens = async ({ all }: { readonly all: boolean }, session: Session): Promise<void> => {
  const client = await session.client()
  const found = await keys.listTokens(client, { user: "me", include_all: all }, { signal: session.signal })
  session.out.list(
    found,
    [
      { title: "NAME", of: ({ token_name }) => token_name, isKey: true },
      { title: "ID", of: ({ id }) => id, isKey: true },
      { title: "SCOPES", of: ({ scopes }) => scopes.join(" ") },
      { title: "LAST USED", of: ({ last_used }) => ago(last_used) },
      { title: "EXPIRES", of: ({ expires_at }) => ago(expires_at) },
      ...(all ? [{ title: "USER", of: ({ username }: (typeof found)[number]) => username }] : [])
    ],
    `There is no token. "${session.program} tokens create" creates one.`
  )
}

interface CreateInput {
  readonly name: string | undefined
  readonly lifetime: number | undefined
  readonly scope: ReadonlyArray<string>
}

/** Nanoseconds of a millisecond: the service counts the life of a token in them. */
const nanoseconds = 1_000_000

/** Prints the token alone, so that a program can read it. */
export const createToken = async ({ lifetime, name, scope }: CreateInput, session: Session): Promise<void> => {
  const client = await session.client()
  const body = {
    token_name: name,
    lifetime: lifetime === undefined ? undefined : lifetime * nanoseconds,
    ...(scope.length === 0 ? {} : { scopes: scope })
  }
  const { key } = await keys.createToken(client, { user: "me", body }, { signal: session.signal })
  session.out.row({ key }, key)
}

export const removeToken = async ({ token }: { readonly token: string }, session: Session): Promise<void> => {
  const client = await session.client()
  const all = await keys.listTokens(client, { user: "me" }, { signal: session.signal })
  const found = all.find(({ id, token_name }) => id === token || token_name === token)
  if (found === undefined) throw new Failure({ message: `There is no token "${token}".`, code: exitCodes.notFound })
  await keys.deleteKey(client, { user: "me", keyid: found.id }, { signal: session.signal })
  session.out.say(`The token "${found.token_name}" has ended.`)
}
