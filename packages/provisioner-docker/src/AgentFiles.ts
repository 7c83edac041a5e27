/** What the engine writes into the container of an agent before it starts. */
import { agentDirectory, archiveOf, filesArchive, type PlacedFile, tokenFile } from "@atelier/provisioner/container"
import { Effect } from "effect"
import type { ImageUser } from "./ImageUsers.js"
import { tarOf, type TarFile } from "./Tar.js"

const nothing = new Uint8Array(0)

/** The token of an agent as an archive for the root of its container. */
export const tokenEntries = (token: string, { gid, uid }: Pick<ImageUser, "gid" | "uid">): ReadonlyArray<TarFile> => [
  { path: `${agentDirectory.slice(1)}/`, bytes: nothing, mode: 0o700, uid, gid },
  { path: tokenFile.slice(1), bytes: new TextEncoder().encode(token), mode: 0o400, uid, gid }
]

interface Content {
  readonly token: string
  readonly files: ReadonlyArray<PlacedFile>
  /** Places of volumes that are new. Docker gives them the owner of the place in the image, and that is root where the image has no such place. */
  readonly folders: ReadonlyArray<string>
}

/** An archive for the root of an agent's container: all in it belongs to the container's user. */
export const agentFiles = ({ files, folders, token }: Content, user: ImageUser): Effect.Effect<Uint8Array> =>
  Effect.gen(function* () {
    const { gid, uid } = user
    const archive = files.length === 0 ? [] : [{ path: filesArchive.slice(1), bytes: yield* archiveOf(files), mode: 0o400, uid, gid }]
    const owned = uid === 0 ? [] : folders.map((path) => ({ path: `${path.slice(1)}/`, bytes: nothing, mode: 0o755, uid, gid }))
    return yield* tarOf([...owned, ...tokenEntries(token, user), ...archive])
  })
