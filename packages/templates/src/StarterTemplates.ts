/** The templates that authors can start from: the folders of `starters/`, described by its `index.json`. */
import type { StarterTemplate } from "@atelier/core/templates"
import { Effect, Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { pack } from "tar-stream"
import { folderOf } from "./files.js"

const Index = Schema.parseJson(
  Schema.Array(
    Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      description: Schema.String,
      icon: Schema.String,
      tags: Schema.Array(Schema.String)
    })
  )
)

/** The same bytes each time, so that a template that is stored twice is stored once. */
const archive = (folder: string): Effect.Effect<Uint8Array> =>
  Effect.promise(() => {
    const files = pack()
    for (const name of readdirSync(folder).toSorted()) files.entry({ name, mtime: new Date(0) }, readFileSync(join(folder, name)))
    files.finalize()
    return buffer(files)
  })

/** Returns the templates for the option `starterTemplates`. It reads the index and the readmes; an archive is made when it is asked for. */
export const starterTemplates = (): ReadonlyArray<StarterTemplate> => {
  const folder = folderOf("starters")
  return Schema.decodeSync(Index)(readFileSync(join(folder, "index.json"), "utf8")).map((template) => ({
    ...template,
    markdown: readFileSync(join(folder, template.id, "README.md"), "utf8"),
    tar: archive(join(folder, template.id))
  }))
}
