import { Either } from "effect"
import * as fc from "fast-check"
import { join, relative } from "node:path/posix"
import { describe, expect, it } from "vitest"
import { localPath } from "../../src/engine/LocalPath.js"

describe("a path inside a folder", () => {
  it.each([
    ["a/b.txt", "a/b.txt"],
    ["./a//b/", "a/b"],
    ["a/../b", "b"],
    [".", ""],
    ["a/..", ""],
    ["...", "..."],
    ["ü/日本", "ü/日本"]
  ])("%j is %j", (path, normal) => {
    expect(localPath(path)).toEqual(Either.right(normal))
  })

  it.each([
    ["", "is empty"],
    ["/etc/passwd", "is absolute"],
    ["C:/windows", "is absolute"],
    ["..", "leads outside"],
    ["a/../../b", "leads outside"],
    ["..\\b", "holds a backslash"],
    ["a\u0000b", "holds a control character"],
    ["a".repeat(256), "has a name longer than 255 bytes"],
    ["ü".repeat(128), "has a name longer than 255 bytes"],
    ["a/".repeat(65), "is deeper than 64 folders"],
    ["a".repeat(1001), "is longer than 1000 characters"]
  ])("%j %s", (path, cause) => {
    expect(localPath(path)).toEqual(Either.left(cause))
  })

  it("never leads out of the folder, for any parts", () => {
    const pieces = fc.constantFrom("..", ".", "", "a", "b c", "~", "...", "C:", "\\", "%2e%2e")
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (names) => {
        const accepted = localPath(names.join("/"))
        if (Either.isLeft(accepted)) return
        expect(relative("/root/folder", join("/root/folder", accepted.right)).split("/")).not.toContain("..")
      })
    )
  })
})
