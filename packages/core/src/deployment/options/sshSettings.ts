/** What clients write into their SSH configuration. deployment.md §1.5. */
import { Either } from "effect"

/** Options that would let the server run commands on clients' machines, or leave the section they are written into. */
const forbidden: ReadonlySet<string> = new Set([
  "host",
  "match",
  "include",
  "proxycommand",
  "localcommand",
  "permitlocalcommand",
  "remotecommand",
  "knownhostscommand",
  "pkcs11provider",
  "securitykeyprovider",
  "smartcarddevice",
  "xauthlocation",
  "proxyjump"
])

const option = (entry: string): Either.Either<readonly [string, string], string> => {
  const at = entry.search(/[ =]/)
  const key = entry.slice(0, at)
  if (at === -1) return Either.left("must be entries of the form key=value")
  if (/[\r\n\0]/.test(entry)) return Either.left("must have no line breaks")
  if (key === "" || /\s/.test(key)) return Either.left("must have a name before the first = or space")
  if (forbidden.has(key.toLowerCase())) return Either.left(`must not set ${key}`)
  return Either.right([key, entry.slice(at + 1)])
}

/** The options by name, or the rule that an entry breaks. The later of two entries with the same name wins. */
export const sshOptions = (entries: ReadonlyArray<string>): Either.Either<Readonly<Record<string, string>>, string> =>
  Either.map(Either.all(entries.map(option)), (all) => Object.fromEntries(all))
