// What the libraries inside a bundle ask to be passed on with it.
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"

/** The folders of the libraries that modules belong to. */
export const libraryFolders = (modules) => [
  ...new Set(modules.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
]

/** The text for the libraries in `folders`. */
export const licensesOf = async (folders) => {
  const texts = await Promise.all(
    folders.toSorted().map(async (folder) => {
      const { license, name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"))
      const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
      const own = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")))
      return [`${name} ${version} (${license})`, ...own.map((text) => text.trim())].join("\n\n")
    })
  )
  return `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`
}
