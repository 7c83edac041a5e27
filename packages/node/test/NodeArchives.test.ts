import { Archives } from "@atelier/core/provisioning"
import { NodeArchives } from "@atelier/node"
import { expect, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Stream } from "effect"
import { extract, pack } from "tar-stream"
import { fromBufferPromise } from "yauzl"
import { describe } from "vitest"
import { aTar, aZip } from "../../../test/records/archives.js"

const maximum = 100 * 1024 * 1024

const toTar = (zip: Uint8Array, limit = maximum) =>
  Effect.provide(
    Effect.flatMap(Archives, ({ tarFromZip }) => tarFromZip(zip, limit)),
    NodeArchives.layer
  )

const toZip = (tar: Uint8Array) =>
  Effect.provide(
    Effect.flatMap(Archives, ({ zipFromTar }) => Stream.runCollect(zipFromTar(Stream.make(tar)))),
    NodeArchives.layer
  ).pipe(Effect.map((chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks))))

const pathsOf = (tar: Uint8Array) =>
  Effect.provide(Effect.flatMap(Archives, ({ outline }) => outline(tar)).pipe(Effect.map(({ paths }) => paths)), NodeArchives.layer)

interface Read {
  readonly name: string
  readonly text: string
  readonly mode: number | undefined
  readonly uid: number | undefined
}

const readTar = async (tar: Uint8Array): Promise<ReadonlyArray<Read>> => {
  const reader = extract()
  const entries: Array<Read> = []
  const iterator = reader[Symbol.asyncIterator]()
  reader.end(Buffer.from(tar))
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    const chunks: Array<Buffer> = []
    for await (const chunk of next.value) if (chunk instanceof Buffer) chunks.push(chunk)
    const { mode, name, uid } = next.value.header
    entries.push({ name, mode, uid, text: Buffer.concat(chunks).toString() })
  }
  return entries
}

const readZip = async (zip: Buffer): Promise<ReadonlyArray<Pick<Read, "name" | "text" | "mode">>> => {
  const archive = await fromBufferPromise(zip, { lazyEntries: true })
  const entries: Array<Pick<Read, "name" | "text" | "mode">> = []
  for await (const entry of archive.eachEntry()) {
    const chunks: Array<Buffer> = []
    if (!entry.fileName.endsWith("/")) {
      for await (const chunk of await archive.openReadStreamPromise(entry)) if (chunk instanceof Buffer) chunks.push(chunk)
    }
    entries.push({ name: entry.fileName, text: Buffer.concat(chunks).toString(), mode: (entry.externalFileAttributes >>> 16) & 0o777 })
  }
  return entries
}

describe("a zip as a tar", () => {
  it.effect("keeps names, contents and permissions, and belongs to the user 1000", () =>
    Effect.gen(function* () {
      const tar = yield* toTar(aZip({ "main.tf": "resource", "docs/README.md": "# Hello" }))
      expect(yield* Effect.promise(() => readTar(tar))).toStrictEqual([
        { name: "main.tf", text: "resource", mode: 0o644, uid: 1000 },
        { name: "docs/README.md", text: "# Hello", mode: 0o644, uid: 1000 }
      ])
    })
  )

  it.effect("is refused if it is malformed, misstates its content, or escapes its directory", () =>
    Effect.gen(function* () {
      const refusals = yield* Effect.forEach(
        [
          Buffer.from("This is not a zip at all, but long enough to be one."),
          aZip({ "a.txt": "hello" }, { "a.txt": { size: 4 } }),
          aZip({ "a.txt": "hello" }, { "a.txt": { size: 6 } }),
          aZip({ "a.txt": "hello" }, { "a.txt": { checksum: 1 } }),
          aZip({ "../../etc/passwd": "root" }),
          aZip({ "/etc/passwd": "root" })
        ],
        (zip) => Effect.flip(toTar(zip))
      )
      expect(refusals.map(({ _tag }) => _tag)).toStrictEqual(Array.from({ length: 6 }, () => "Invalid"))
    })
  )

  it.effect("is refused for its declared and for its real size", () =>
    Effect.gen(function* () {
      const bomb = aZip({ zeros: new Uint8Array(20_000) })
      expect(bomb.length).toBeLessThan(1_000)
      expect((yield* Effect.flip(toTar(bomb, 10_000)))._tag).toBe("TooLarge")
      // Sizes fit, but the headers and the padding of many empty files do not
      const crumbs = aZip(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`file-${index}`, ""])))
      expect((yield* Effect.flip(toTar(crumbs, 20_000)))._tag).toBe("TooLarge")
      expect((yield* toTar(crumbs, 41 * 512 + 1024)).length).toBeLessThanOrEqual(41 * 512 + 1024)
    })
  )
})

describe("a tar as a zip", () => {
  it.live("stops reading the tar when nobody reads the zip any more", () =>
    Effect.gen(function* () {
      const tar = yield* Effect.promise(() =>
        aTar(Object.fromEntries(Array.from({ length: 20 }, (_, file) => [`${file}`, "x".repeat(100_000)])))
      )
      const { zipFromTar } = yield* Archives
      const stopped = yield* Deferred.make<void>()
      const source = Stream.repeatValue(tar.subarray(0, tar.length - 1024)).pipe(Stream.ensuring(Deferred.succeed(stopped, undefined)))
      yield* Stream.runDrain(Stream.take(zipFromTar(source), 3))
      yield* Deferred.await(stopped)
    }).pipe(Effect.provide(NodeArchives.layer))
  )

  it.effect("holds the same files and folders", () =>
    Effect.gen(function* () {
      const content = "line\n".repeat(50_000)
      const tar = yield* Effect.promise(() => aTar({ "docs/": "", "docs/README.md": content, "ünïcode.txt": "" }))
      const zip = yield* toZip(tar)
      expect(zip.length).toBeLessThan(5_000)
      expect(yield* Effect.promise(() => readZip(zip))).toStrictEqual([
        { name: "docs/", text: "", mode: 0o755 },
        { name: "docs/README.md", text: content, mode: 0o644 },
        { name: "ünïcode.txt", text: "", mode: 0o644 }
      ])
    })
  )

  it.effect("omits links, devices and paths out of the archive", () =>
    Effect.gen(function* () {
      const tar = yield* Effect.promise(async () => {
        const hostile = pack()
        hostile.entry({ name: "link", type: "symlink", linkname: "/etc/passwd" })
        hostile.entry({ name: "device", type: "character-device" })
        hostile.entry({ name: "../outside" }, "out")
        hostile.entry({ name: "/absolute" }, "abs")
        hostile.entry({ name: "./inside" }, "in")
        hostile.finalize()
        const chunks: Array<Buffer> = []
        for await (const chunk of hostile) if (chunk instanceof Buffer) chunks.push(chunk)
        return Buffer.concat(chunks)
      })
      const zip = yield* toZip(tar)
      expect((yield* Effect.promise(() => readZip(zip))).map(({ name }) => name)).toStrictEqual(["inside"])
      expect(yield* pathsOf(tar)).toStrictEqual(["inside"])
    })
  )

  it.effect("gives the beginning of files at the root", () =>
    Effect.gen(function* () {
      const tar = yield* Effect.promise(() => aTar({ "a.txt": "engine: a", "b/c.txt": "deep", "long.txt": "x".repeat(200_000) }))
      const { text } = yield* Effect.provide(
        Effect.flatMap(Archives, ({ outline }) => outline(tar)),
        NodeArchives.layer
      )
      expect(["a.txt", "b/c.txt", "none", "long.txt"].map((path) => text(path)?.length)).toStrictEqual([9, undefined, undefined, 65_536])
    })
  )

  it.effect("fails for a truncated tar and for other content", () =>
    Effect.gen(function* () {
      const tar = yield* Effect.promise(() => aTar({ "a.txt": "x".repeat(2_000) }))
      expect((yield* Effect.flip(toZip(tar.subarray(0, 1_000))))._tag).toBe("Invalid")
      expect((yield* Effect.flip(pathsOf(Buffer.alloc(2_048, 7))))._tag).toBe("Invalid")
    })
  )
})
