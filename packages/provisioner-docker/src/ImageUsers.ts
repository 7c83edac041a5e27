/** The users of images: whose files the engine writes, and where their home is. */
import { Lru } from "@atelier/core/platform"
import { Effect } from "effect"
import { buffer } from "node:stream/consumers"
import { extract } from "tar-stream"
import { DaemonError, type DockerDaemon, isMissing } from "./DockerDaemon.js"
import { type Labels } from "./Labels.js"

export interface ImageUser {
  readonly uid: number
  readonly gid: number
  readonly home: string
}

/** Images and users whose answers are kept. */
const knownUsers = 500

/** Bytes of a file of an image that are read. */
const maximumFile = 1024 * 1024

/** The first file of a tar. */
export const fileIn = (tar: NodeJS.ReadableStream): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = extract()
    reader.on("entry", ({ size = 0 }, content, next) => {
      if (size > maximumFile) return reject(new Error("the file is too large"))
      buffer(content).then((bytes) => {
        resolve(bytes.toString())
        next()
      }, reject)
    })
    reader.once("error", reject)
    reader.once("finish", () => resolve(""))
    tar.once("error", reject)
    tar.pipe(reader)
  })

const rowsOf = (file: string): ReadonlyArray<ReadonlyArray<string>> => file.split("\n").map((line) => line.split(":"))

const numberOf = (value: string | undefined): number | undefined =>
  value !== undefined && /^\d{1,10}$/.test(value) ? Number(value) : undefined

/** Finds a user as the kernel's side of a container does: a number needs no entry, a name does. passwd(5), group(5). */
export const userIn = (user: string, passwd: string, group: string): ImageUser | string => {
  const [name = "", groupName] = (user === "" ? "0" : user).split(":")
  const number = numberOf(name)
  const row = rowsOf(passwd).find(([entry, , uid]) => (number === undefined ? entry === name : numberOf(uid) === number && entry !== ""))
  const uid = number ?? numberOf(row?.[2])
  if (uid === undefined) return `the image has no user ${JSON.stringify(name)}`
  const groupNumber = numberOf(groupName)
  const groupRow = groupName === undefined ? undefined : rowsOf(group).find(([entry]) => entry === groupName)
  const gid = groupNumber ?? (groupName === undefined ? (numberOf(row?.[3]) ?? 0) : numberOf(groupRow?.[2]))
  if (gid === undefined) return `the image has no group ${JSON.stringify(groupName)}`
  const home = row?.[5] ?? ""
  // A home that is the root, or none, is no place for a volume
  return {
    uid,
    gid,
    home: /^\/[^/]/.test(home) && home !== "/nonexistent" ? home.replace(/\/+$/, "") : uid === 0 ? "/root" : `/home/${row?.[0] || uid}`
  }
}

export const makeImageUsers = (daemon: DockerDaemon) => {
  const known = Lru.make<string, ImageUser>(knownUsers)

  const read = (container: string, path: string): Effect.Effect<string, DaemonError> =>
    daemon
      .call(`the image's ${path} cannot be read`, async (docker, abortSignal) =>
        fileIn(await docker.getContainer(container).getArchive({ path, abortSignal }))
      )
      .pipe(Effect.catchIf(isMissing, () => Effect.succeed("")))

  /** Reads the files from a container that is never started. */
  const look = (image: string, user: string, name: string, labels: Labels) =>
    Effect.acquireUseRelease(
      daemon.call("the image cannot be read", (docker, abortSignal) =>
        docker.createContainer({
          name,
          Image: image,
          Cmd: ["none"],
          Entrypoint: ["none"],
          Labels: { ...labels },
          HostConfig: { NetworkMode: "none" },
          abortSignal
        })
      ),
      ({ id }) => Effect.zipWith(read(id, "/etc/passwd"), read(id, "/etc/group"), (passwd, group) => userIn(user, passwd, group)),
      ({ id }) =>
        Effect.ignoreLogged(
          daemon.call("a container cannot be removed", (docker, abortSignal) =>
            docker.getContainer(id).remove({ force: true, v: true, abortSignal })
          )
        )
    )

  /** The user of a container: that of the image unless another one is wanted. */
  const of = (
    image: { readonly id: string; readonly user: string },
    wanted: string | undefined,
    name: string,
    labels: Labels
  ): Effect.Effect<ImageUser, DaemonError> =>
    Effect.suspend(() => {
      const user = wanted ?? image.user
      if (["", "0", "root", "0:0", "root:root"].includes(user)) return Effect.succeed({ uid: 0, gid: 0, home: "/root" })
      const key = `${image.id} ${user}`
      const before = known.get(key)
      if (before !== undefined) return Effect.succeed(before)
      return Effect.flatMap(look(image.id, user, name, labels), (found) => {
        if (typeof found === "string") return new DaemonError({ message: found })
        known.set(key, found)
        return Effect.succeed(found)
      })
    })

  return { of }
}

export type ImageUsers = ReturnType<typeof makeImageUsers>
