import { describe, expect, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { maximumArchiveSize, maximumEntries, maximumFileSize, readArchive, readFiles } from "../../src/engine/Archive.js"
import { longestTurn, maximumTurn } from "../../../core/test/platform/longestTurn.js"
import { type TarEntry, tarOf } from "../builders.js"

const tar = (...entries: ReadonlyArray<readonly [string, TarEntry]>) => Effect.promise(() => tarOf(entries))
const texts = (files: ReadonlyMap<string, Uint8Array>) =>
  Object.fromEntries(Array.from(files, ([path, bytes]) => [path, new TextDecoder().decode(bytes)]))
const refusal = (archive: Uint8Array) => Effect.map(Effect.flip(readArchive(archive)), ({ message }) => message)

describe("an archive", () => {
  it.effect("answers its files by normalised path", () =>
    Effect.gen(function* () {
      const archive = yield* tar(["./template.yaml", "agents: []"], ["scripts/", { type: "directory" }], ["scripts/../x/a.sh", "echo"])
      expect(texts(yield* readArchive(archive))).toEqual({ "template.yaml": "agents: []", "x/a.sh": "echo" })
    })
  )

  it.effect("holds the last content of a path that occurs twice", () =>
    Effect.gen(function* () {
      expect(texts(yield* readArchive(yield* tar(["a", "one"], ["a", "two"])))).toEqual({ a: "two" })
    })
  )

  it.effect("keeps permission bits, and makes unreadable files readable for the owner", () =>
    Effect.gen(function* () {
      const files = yield* readFiles(yield* tar(["a", { mode: 0o4000 }], ["b", { mode: 0o4755 }], ["c", { mode: 0o640 }]))
      expect(Array.from(files, ([path, { mode }]) => [path, mode.toString(8)])).toEqual([
        ["a", "600"],
        ["b", "755"],
        ["c", "640"]
      ])
    })
  )

  it.each<[string, () => Promise<Uint8Array>]>([
    ["nothing", async () => new Uint8Array(maximumArchiveSize)],
    ["one file's header", async () => Buffer.alloc(maximumArchiveSize, (await tarOf([["x", ""]])).subarray(0, 512))],
    [
      "large files",
      () => tarOf(Array.from({ length: 9 }, (_, index) => [`${index}`, { content: new Uint8Array(maximumFileSize) }] as const))
    ]
  ])("100 MB of %s do not keep others waiting for 50 ms", async (_, archive) => {
    const bytes = await archive()
    expect(await longestTurn(() => Effect.runPromise(Effect.either(readFiles(bytes))))).toBeLessThan(maximumTurn)
  })

  it.effect("has no links and no devices", () =>
    Effect.gen(function* () {
      const archive = yield* tar(
        ["link", { type: "symlink", linkname: "/etc" }],
        ["hard", { type: "link", linkname: "template.yaml" }],
        ["pipe", { type: "fifo" }],
        ["null", { type: "character-device", devmajor: 1, devminor: 3 }],
        ["link/passwd", "mine"]
      )
      expect(texts(yield* readArchive(archive))).toEqual({ "link/passwd": "mine" })
    })
  )

  it.effect.each([
    ["/etc/cron.d/x", "is absolute"],
    ["../x", "leads outside"],
    ["a/b/../../../x", "leads outside"],
    ["..\\x", "holds a backslash"]
  ] as const)("with the path %j is refused, because it %s", ([path, cause]) =>
    Effect.gen(function* () {
      expect(yield* refusal(yield* tar(["fine", "x"], [path, "x"]))).toBe(`archive: ${JSON.stringify(path)} ${cause}`)
    })
  )

  it.effect("with a path that is a file and a folder is refused", () =>
    Effect.gen(function* () {
      expect(yield* refusal(yield* tar(["a", "x"], ["a/b", "x"]))).toBe('archive: "a" is a file and a folder')
    })
  )

  it.effect("takes a file of 10 MiB and refuses one byte more", () =>
    Effect.gen(function* () {
      const files = yield* readArchive(yield* tar(["a", { content: new Uint8Array(maximumFileSize) }]))
      expect(files.get("a")?.byteLength).toBe(maximumFileSize)
      expect(yield* refusal(yield* tar(["a", { content: new Uint8Array(maximumFileSize + 1) }]))).toBe(
        'archive: "a" is larger than 10485760 bytes'
      )
    })
  )

  it.effect("of too many entries, or too many bytes, is refused", () =>
    Effect.gen(function* () {
      const many = yield* tar(...Array.from({ length: maximumEntries + 1 }, (_, index) => [`f${index}`, ""] as const))
      expect(yield* refusal(many)).toBe("archive: has more than 10000 entries")
      expect(yield* refusal(new Uint8Array(maximumArchiveSize + 1))).toBe("archive: is larger than 104857600 bytes")
    })
  )

  it.effect("that is not a tar, or ends early, is refused", () =>
    Effect.gen(function* () {
      expect(yield* refusal(new TextEncoder().encode("PK".repeat(512)))).toContain("Invalid tar header")
      const whole = yield* tar(["a", "x".repeat(2000)])
      expect(yield* refusal(whole.subarray(0, 1024))).toBe('archive: "a" is cut short')
      expect(yield* refusal(whole.subarray(0, 300))).toBe("archive: Unexpected end of data")
    })
  )

  it.effect("of no bytes has no files", () => Effect.map(readArchive(new Uint8Array(0)), (files) => expect(files.size).toBe(0)))

  it.live("never fails in another way than by refusing", () =>
    Effect.promise(async () => {
      const sound = await tarOf([
        ["a/b", "content"],
        ["long/".repeat(40), { type: "directory" }]
      ])
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { maxLength: 20 }), async (changes) => {
          const broken = new Uint8Array(sound)
          for (const [at, byte] of changes) broken[at] = byte
          const answer = await Effect.runPromise(Effect.either(readArchive(broken)))
          if (Either.isLeft(answer)) expect(answer.left.message).toMatch(/^archive: /)
        })
      )
    })
  )
})
