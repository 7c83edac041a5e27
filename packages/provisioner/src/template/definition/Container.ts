/** The container that an agent runs in. Values with expressions are checked once they are known. docs/templates.md, `container`. */
import { Schema } from "effect"
import { Environment, list, named, optional, orElse, Text, text, TextOrScalar, when } from "./Field.js"

/** Part of the names of volumes and containers. */
const PartName = named(/^[a-z0-9](-?[a-z0-9])*$/, 32, "lower-case letters and digits with single dashes between,")

const scalar = optional(TextOrScalar)

const Volume = Schema.Struct({
  name: PartName,
  path: text,
  keep: scalar,
  when
})

const SidecarVolume = Schema.Struct({ ...Volume.fields, path: Text })

const Sidecar = Schema.Struct({
  name: PartName,
  image: Text,
  env: orElse(Environment, {}),
  command: list(Text, 64),
  ports: list(TextOrScalar, 64),
  volumes: list(SidecarVolume, 16),
  cpus: scalar,
  memory: scalar,
  user: scalar,
  when
})
export type Sidecar = typeof Sidecar.Type

const Build = Schema.Struct({
  /** A folder of the source; all of it when absent. */
  context: text,
  /** Relative to the context. */
  dockerfile: text,
  args: orElse(Environment, {}),
  target: text
})
export type Build = typeof Build.Type

export const Container = Schema.Struct({
  image: text,
  build: optional(Build),
  cpus: scalar,
  memory: scalar,
  disk: scalar,
  gpus: scalar,
  user: scalar,
  env: orElse(Environment, {}),
  entrypoint: list(Text, 64),
  volumes: list(Volume, 32),
  network: text,
  privileged: scalar,
  runtime: text,
  sidecars: list(Sidecar, 16)
}).pipe(
  Schema.filter(({ build, image }) => {
    if (build === undefined && image === undefined) return 'needs either "image" or "build"'
    return build === undefined || image === undefined ? undefined : { path: ["build"], message: "excludes image" }
  })
)
export type Container = typeof Container.Type
