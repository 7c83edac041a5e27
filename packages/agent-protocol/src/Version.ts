import { Data, Either } from "effect"

/** Version of the agents' RPC interface. Spec: agents-and-apps.md §13. */
export interface Version {
  readonly major: number
  readonly minor: number
}

/** The newest version served; every 2.x up to it is accepted. */
export const current: Version = { major: 2, minor: 11 }

/** The `version` of clients that leave it out, on `/workspaceagents/me/rpc` and `/tailnet`. */
export const rpcDefault = "2.0"

/** The same on `…/coordinate`: a version that is not served, so clients must send one. */
export const coordinateDefault = "1.0"

/** The version is malformed or not served. Clients compare the message, which belongs in an answer naming the field `version`. */
export class UnsupportedVersion extends Data.TaggedError("UnsupportedVersion")<{ readonly version: string }> {
  override readonly message = "Unknown or unsupported API version"
}

export const format = ({ major, minor }: Version): string => `${major}.${minor}`

const pattern = /^(\d{1,6})\.(\d{1,6})$/

/** Reads `major.minor` and answers the version both sides speak: the client's. */
export const negotiate = (version: string): Either.Either<Version, UnsupportedVersion> => {
  const [, major, minor] = pattern.exec(version) ?? []
  const asked = { major: Number(major), minor: Number(minor) }
  return asked.major === current.major && asked.minor <= current.minor
    ? Either.right(asked)
    : Either.left(new UnsupportedVersion({ version }))
}
