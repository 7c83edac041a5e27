/** The templates that this server ships: the folders of `templates/`, described by its `index.json`. */
import type { StarterTemplate } from "@atelier/core/templates"
import { Effect, Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { pack } from "tar-stream"

const folder = fileURLToPath(new URL("../templates", import.meta.url))

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
const archive = (id: string): Effect.Effect<Uint8Array> =>
  Effect.promise(() => {
    const files = pack()
    for (const name of readdirSync(join(folder, id)).toSorted()) {
      files.entry({ name, mtime: new Date(0) }, readFileSync(join(folder, id, name)))
    }
    files.finalize()
    return buffer(files)
  })

/** Reads the index and the readmes; a template's archive is made when it is asked for. */
export const starterTemplates = (accessUrl: string): ReadonlyArray<StarterTemplate> =>
  Schema.decodeSync(Index)(readFileSync(join(folder, "index.json"), "utf8")).map((template) => ({
    ...template,
    url: `${accessUrl}/api/v2/templates/examples`,
    markdown: readFileSync(join(folder, template.id, "README.md"), "utf8"),
    tar: archive(template.id)
  }))
