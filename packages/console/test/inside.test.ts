/** What the screens inside a workspace read: paths, contents of files, and output of processes. */
import { describe, expect, it } from "vitest"
import { chosenFiles, maximumEntries, readDropped, TooManyFiles } from "../src/screens/files/dropped.js"
import { ancestors, bytesOf, contentOf, folderOf, isName, nameOf, pictureType, within } from "../src/screens/files/paths.js"
import { OutputLines } from "../src/screens/processes/lines.js"
import { byteText } from "../src/ui/page/bytes.js"
import { editorsOf, folderOf as editorFolder } from "../src/screens/workspaces/detail/editors.js"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("paths in a workspace", () => {
  it("have their folders, on Unix and on Windows", () => {
    expect(ancestors("/home/ada").map(({ path }) => path)).toStrictEqual(["/", "/home", "/home/ada"])
    expect(ancestors("C:\\Users\\ada").map(({ path }) => path)).toStrictEqual(["C:\\", "C:\\Users", "C:\\Users\\ada"])
    expect([folderOf("/"), folderOf("/home"), folderOf("C:\\Users"), nameOf("/home/a b")]).toStrictEqual([undefined, "/", "C:\\", "a b"])
    expect([within("/", "x"), within("/home", "x"), within("C:\\", "x"), within("C:\\Users", "x")]).toStrictEqual([
      "/x",
      "/home/x",
      "C:\\x",
      "C:\\Users\\x"
    ])
    expect(["", ".", "..", "a/b", "a\0", ".a", "a b"].map(isName)).toStrictEqual([false, false, false, false, false, true, true])
  })

  it("are shown with sizes, and pictures by their endings", () => {
    expect([0, 999, 1_000, 1_450_000, 123_000_000].map(byteText)).toStrictEqual(["0 B", "999 B", "1.0 kB", "1.4 MB", "123 MB"])
    expect([pictureType("A.PNG"), pictureType("a.html"), pictureType("png")]).toStrictEqual(["image/png", undefined, undefined])
  })
})

describe("the content of a file", () => {
  it("is written as it was read", () => {
    for (const text of ["", "a\nb\n", "a\r\nb\r\n", "\uFEFFa"]) {
      const content = contentOf(bytes(text))
      if (content.kind !== "text") throw new Error("not a text")
      expect([content.isMixed, bytesOf(content.text, content.lineEnd)]).toStrictEqual([false, bytes(text)])
    }
  })

  it("is no text with other bytes, and not edited with mixed ends of lines", () => {
    expect([contentOf(new Uint8Array([0x50, 0])), contentOf(new Uint8Array([0xff, 0xfe]))]).toStrictEqual([
      { kind: "binary" },
      { kind: "binary" }
    ])
    expect(["a\r\nb\n", "a\rb", "a\nb\r"].map((text) => contentOf(bytes(text)))).toMatchObject([
      { isMixed: true },
      { isMixed: true },
      { isMixed: true }
    ])
  })
})

interface Tree {
  readonly [name: string]: string | Tree | Error
}

/** An entry as browsers give them: a folder answers two of its entries at a time. */
const entryOf = (name: string, content: string | Tree | Error): FileSystemEntry => {
  const base = { name, fullPath: name, isFile: true, isDirectory: false }
  if (content instanceof Error)
    return Object.assign(base, { file: (_: unknown, reject: (error: Error) => void) => reject(content) }) as never
  if (typeof content === "string")
    return Object.assign(base, { file: (resolve: (file: File) => void) => resolve(new File([content], name)) }) as never
  const createReader = () => {
    const entries = Object.entries(content).map(([name, each]) => entryOf(name, each))
    return { readEntries: (resolve: (some: ReadonlyArray<FileSystemEntry>) => void) => resolve(entries.splice(0, 2)) }
  }
  return Object.assign(base, { isFile: false, isDirectory: true, createReader }) as never
}

describe("what is dropped", () => {
  it("is read with all that folders hold, in its order, and names what cannot be read", async () => {
    const { emptyFolders, files, unreadable } = await readDropped([
      entryOf("src", { "a.ts": "a", none: {}, deep: { "b.ts": "b" }, locked: new Error("no"), "c.ts": "c" }),
      entryOf("readme", "r")
    ])
    expect(files.map(({ names }) => names.join("/")).toSorted()).toStrictEqual(["readme", "src/a.ts", "src/c.ts", "src/deep/b.ts"])
    expect(await Promise.all(files.map(({ file }) => file.text())).then((texts) => texts.toSorted())).toStrictEqual(["a", "b", "c", "r"])
    expect([emptyFolders, unreadable]).toStrictEqual([[["src", "none"]], ["src/locked"]])
  })

  it("has a bound", async () => {
    const many = Object.fromEntries(Array.from({ length: maximumEntries + 1 }, (_, index) => [`${index}`, ""]))
    await expect(readDropped([entryOf("many", many)])).rejects.toThrow(TooManyFiles)
    await expect(readDropped([entryOf("a", { b: many }), entryOf("c", "")])).rejects.toThrow(TooManyFiles)
  })

  it("and chosen files have the folders of their files", () => {
    const within = Object.defineProperty(new File([""], "x.ts"), "webkitRelativePath", { value: "src/deep/x.ts" })
    const { files } = chosenFiles([within, Object.defineProperty(new File([""], "y"), "webkitRelativePath", { value: "" })])
    expect(files.map(({ names }) => names)).toStrictEqual([["src", "deep", "x.ts"], ["y"]])
  })
})

describe("the lines of a process", () => {
  it("grow until they end, each channel for itself", () => {
    const output = new OutputLines()
    output.push("stdout", bytes("one\ntw"))
    output.push("stderr", bytes("bad"))
    output.push("stdout", bytes("o\n\nthree"))
    expect(output.lines.map(({ channel, text }) => `${channel} ${text}`)).toStrictEqual([
      "stdout one",
      "stdout two",
      "stderr bad",
      "stdout ",
      "stdout three"
    ])
  })

  it("keep characters that come in two parts", () => {
    const output = new OutputLines()
    const [first = 0, ...rest] = bytes("é\n")
    output.push("stdout", new Uint8Array([first]))
    output.push("stdout", new Uint8Array(rest))
    expect(output.lines.map(({ text }) => text)).toStrictEqual(["é"])
  })
})

describe("editors", () => {
  it("are those of the template's display apps, with the folder in their links", () => {
    expect(editorsOf(["web_terminal"])).toStrictEqual([])
    const place = { host: "main.first.ada.atelier", user: "ada", folder: editorFolder("/home/ada/c#") }
    expect(editorsOf(["vscode"]).map(({ id, link }) => [id, link(place)])).toStrictEqual([
      ["code", "vscode://vscode-remote/ssh-remote+main.first.ada.atelier/home/ada/c%23"],
      ["cursor", "cursor://vscode-remote/ssh-remote+main.first.ada.atelier/home/ada/c%23"],
      ["windsurf", "windsurf://vscode-remote/ssh-remote+main.first.ada.atelier/home/ada/c%23"],
      [
        "jetbrains",
        "jetbrains-gateway://connect#type=ssh&host=main.first.ada.atelier&port=22&user=ada&projectPath=%2Fhome%2Fada%2Fc%23&deploy=false"
      ],
      ["zed", "zed://ssh/main.first.ada.atelier/home/ada/c%23"]
    ])
    expect(editorFolder("C:\\Users\\ada")).toBe("/C:/Users/ada")
  })
})
