/** What each request of a client does to the files of the workspace. */
import { constants, promises as fs, type Stats } from "node:fs"
import { attributesOf, change, changeLink, longName, noAttributes, readAttributes } from "./Attributes.js"
import { Handles, maximumHandles } from "./Handles.js"
import { absolute, expanded, type Places, real } from "./Paths.js"
import { maximumData, maximumPacket, packet, type Reader, Status, string, Type, uint32, uint64 } from "./Wire.js"

/** Entries of a directory in one answer. */
const maximumEntries = 100

const Open = { read: 1, write: 2, append: 4, create: 8, truncate: 16, exclusive: 32 } as const

export const status = (id: Buffer, code: number, message = ""): Buffer =>
  packet(Type.status, id, uint32(code), string(message), string("en"))

const name = (id: Buffer, entries: ReadonlyArray<ReadonlyArray<Buffer>>): Buffer =>
  packet(Type.name, id, uint32(entries.length), ...entries.flat())

/** How the system opens a file. Without a wait: an open pipe without another side would take one of the threads that all files share. */
const flagsOf = (asked: number): number => {
  const has = (flag: number): boolean => (asked & flag) !== 0
  const writes = has(Open.write) || has(Open.append)
  const access = writes ? (has(Open.read) ? constants.O_RDWR : constants.O_WRONLY) : constants.O_RDONLY
  return (
    access |
    constants.O_NONBLOCK |
    (has(Open.append) ? constants.O_APPEND : 0) |
    (has(Open.create) ? constants.O_CREAT : 0) |
    (has(Open.truncate) ? constants.O_TRUNC : 0) |
    (has(Open.exclusive) ? constants.O_EXCL : 0)
  )
}

/** Renames as version 3 says: what exists is not replaced. */
const rename = async (from: Buffer, to: Buffer): Promise<void> => {
  const stats = await fs.lstat(from)
  if (stats.isFile()) {
    try {
      await fs.link(from, to)
      return await fs.unlink(from)
    } catch (cause) {
      // File systems without hard links say so in several ways
      if (
        !(cause instanceof Error && "code" in cause && ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(String(cause.code)))
      )
        throw cause
    }
  }
  const existing = await fs.lstat(to).catch(() => undefined)
  if (existing !== undefined) throw Object.assign(new Error("the target exists"), { code: "EEXIST" })
  await fs.rename(from, to)
}

const fileSystem = async (id: Buffer, path: Buffer): Promise<Buffer> => {
  const { bavail, bfree, blocks, bsize, ffree, files } = await fs.statfs(path)
  // Sizes of blocks and fragments, counts of blocks and of files, the id, the flags, and the longest name
  const values = [bsize, bsize, blocks, bfree, bavail, files, ffree, ffree, 0, 0, 255]
  return packet(Type.extendedReply, id, ...values.map(uint64))
}

type Serve = (id: Buffer, request: Reader) => Promise<Buffer>

export interface Requests {
  readonly serve: (type: number, id: Buffer, request: Reader) => Promise<Buffer>
  /** Closes what the client has left open. */
  readonly end: () => Promise<void>
}

/** Extensions with their versions, as the answer to the client's first packet lists them. */
export const extensions: ReadonlyArray<readonly [string, string]> = [
  ["posix-rename@openssh.com", "1"],
  ["statvfs@openssh.com", "2"],
  ["fstatvfs@openssh.com", "2"],
  ["hardlink@openssh.com", "1"],
  ["fsync@openssh.com", "1"],
  ["lsetstat@openssh.com", "1"],
  ["limits@openssh.com", "1"],
  ["expand-path@openssh.com", "1"]
]

/** What all requests of a client stand on. */
interface Ground {
  readonly places: Places
  readonly handles: Handles
  /** The path that a request has next. */
  readonly pathIn: (request: Reader) => Buffer
}

type Served = Readonly<Record<number | string, Serve>>

const done = async (id: Buffer, work: Promise<unknown>): Promise<Buffer> => {
  await work
  return status(id, Status.ok)
}

const attributes = async (id: Buffer, stats: Promise<Stats>): Promise<Buffer> => packet(Type.attrs, id, attributesOf(await stats))

const tooMany = (id: Buffer): Buffer => status(id, Status.failure, `At most ${maximumHandles} files may be open.`)

/** The content of open files. */
const contents = ({ handles, pathIn }: Ground): Served => ({
  [Type.open]: async (id, request) => {
    const path = pathIn(request)
    const asked = request.uint32()
    const { permissions } = readAttributes(request)
    if (handles.isFull) return tooMany(id)
    const file = await fs.open(path, flagsOf(asked), permissions ?? 0o666)
    return packet(Type.handle, id, string(handles.add({ kind: "file", file, appends: (asked & Open.append) !== 0 })))
  },

  [Type.read]: async (id, request) => {
    const { file } = handles.file(request.string())
    const offset = request.uint64()
    const length = Math.min(request.uint32(), maximumData)
    // The data is read into its packet
    const answer = Buffer.allocUnsafe(13 + length)
    const { bytesRead } = await file.read(answer, 13, length, offset)
    if (bytesRead === 0) return status(id, Status.eof)
    answer.writeUInt32BE(9 + bytesRead, 0)
    answer.writeUInt8(Type.data, 4)
    id.copy(answer, 5)
    answer.writeUInt32BE(bytesRead, 9)
    return answer.subarray(0, 13 + bytesRead)
  },

  [Type.write]: async (id, request) => {
    const { appends, file } = handles.file(request.string())
    const offset = request.uint64()
    const data = request.string()
    for (let written = 0; written < data.length;) {
      written += (await file.write(data, written, data.length - written, appends ? null : offset + written)).bytesWritten
    }
    return status(id, Status.ok)
  },

  // Of files and directories
  [Type.close]: async (id, request) => done(id, handles.close(request.string()))
})

const directories = ({ handles, pathIn }: Ground): Served => ({
  [Type.opendir]: async (id, request) => {
    const path = pathIn(request)
    if (handles.isFull) return tooMany(id)
    // The types know texts alone
    const directory = await fs.opendir(path as unknown as string, { encoding: "buffer" as BufferEncoding })
    return packet(Type.handle, id, string(handles.add({ kind: "directory", directory, path })))
  },

  [Type.readdir]: async (id, request) => {
    const { directory, path } = handles.directory(request.string())
    const names: Array<Buffer> = []
    while (names.length < maximumEntries) {
      const entry = await directory.read()
      if (entry === null) break
      names.push(Buffer.from(entry.name))
    }
    if (names.length === 0) return status(id, Status.eof)
    const entries = await Promise.all(
      names.map(async (each) => {
        // One may be gone since the listing
        const stats = await fs.lstat(Buffer.concat([path, Buffer.from("/"), each])).catch(() => undefined)
        return stats === undefined ? [] : [[string(each), string(longName(each, stats)), attributesOf(stats)]]
      })
    )
    return name(id, entries.flat())
  },

  [Type.mkdir]: async (id, request) => {
    const path = pathIn(request)
    return done(id, fs.mkdir(path, readAttributes(request).permissions ?? 0o777))
  },
  [Type.rmdir]: async (id, request) => done(id, fs.rmdir(pathIn(request)))
})

const attributesServed = ({ handles, pathIn }: Ground): Served => ({
  [Type.stat]: async (id, request) => attributes(id, fs.stat(pathIn(request))),
  [Type.lstat]: async (id, request) => attributes(id, fs.lstat(pathIn(request))),
  [Type.fstat]: async (id, request) => attributes(id, handles.file(request.string()).file.stat()),
  [Type.setstat]: async (id, request) => done(id, change(pathIn(request), readAttributes(request))),
  [Type.fsetstat]: async (id, request) => done(id, change(handles.file(request.string()).file, readAttributes(request)))
})

const realpath = async (id: Buffer, path: Buffer): Promise<Buffer> => {
  const found = await real(path)
  return name(id, [[string(found), string(found), noAttributes]])
}

const names = ({ pathIn }: Ground): Served => ({
  [Type.remove]: async (id, request) => done(id, fs.unlink(pathIn(request))),
  [Type.rename]: async (id, request) => done(id, rename(pathIn(request), pathIn(request))),
  [Type.realpath]: async (id, request) => realpath(id, pathIn(request)),
  [Type.readlink]: async (id, request) => {
    const target = await fs.readlink(pathIn(request), { encoding: "buffer" })
    return name(id, [[string(target), string(target), noAttributes]])
  },
  // OpenSSH's clients and server have the two in another order than the draft
  [Type.symlink]: async (id, request) => {
    const target = request.string()
    return done(id, fs.symlink(target, pathIn(request)))
  }
})

const extended = ({ handles, pathIn, places }: Ground): Served => ({
  "posix-rename@openssh.com": async (id, request) => done(id, fs.rename(pathIn(request), pathIn(request))),
  "statvfs@openssh.com": async (id, request) => fileSystem(id, pathIn(request)),
  "fstatvfs@openssh.com": async (id, request) => fileSystem(id, Buffer.from(`/proc/self/fd/${handles.file(request.string()).file.fd}`)),
  "hardlink@openssh.com": async (id, request) => done(id, fs.link(pathIn(request), pathIn(request))),
  "fsync@openssh.com": async (id, request) => done(id, handles.file(request.string()).file.sync()),
  "lsetstat@openssh.com": async (id, request) => done(id, changeLink(pathIn(request), readAttributes(request))),
  "limits@openssh.com": async (id) =>
    packet(Type.extendedReply, id, ...[maximumPacket, maximumData, maximumData, maximumHandles].map(uint64)),
  "expand-path@openssh.com": async (id, request) => realpath(id, expanded(places, request.string()))
})

export const makeRequests = (places: Places): Requests => {
  const handles = new Handles()
  const ground: Ground = { places, handles, pathIn: (request) => absolute(places, request.string()) }
  const byName = new Map(Object.entries(extended(ground)))
  const served: Served = {
    ...contents(ground),
    ...directories(ground),
    ...attributesServed(ground),
    ...names(ground),
    [Type.extended]: async (id, request) =>
      (await byName.get(request.string().toString("latin1"))?.(id, request)) ?? status(id, Status.unsupported)
  }
  return {
    serve: async (type, id, request) => (await served[type]?.(id, request)) ?? status(id, Status.unsupported),
    end: () => handles.closeAll()
  }
}
