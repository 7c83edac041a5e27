import { Uuid } from "@atelier/core/platform"
import type { BuildMetadata, PlanInput, ProvisionerLog } from "@atelier/core/provisioning"
import { Effect, Either, TestContext } from "effect"
import { type Header, pack } from "tar-stream"

/** An entry of a tar; text is shorthand for a regular file's content. */
export type TarEntry = string | (Partial<Header> & { readonly content?: string | Uint8Array })

/** A tar of the entries, in their order. */
export const tarOf = async (entries: Iterable<readonly [string, TarEntry]>): Promise<Uint8Array> => {
  const packing = pack()
  for (const [name, entry] of entries) {
    const { content = "", ...header } = typeof entry === "string" ? { content: entry } : entry
    packing.entry({ name, ...header }, content)
  }
  packing.finalize()
  const chunks: Array<Uint8Array> = []
  for await (const chunk of packing) if (chunk instanceof Uint8Array) chunks.push(chunk)
  return new Uint8Array(Buffer.concat(chunks))
}

/** Runs an effect that lets others have their turn at once, and answers without waiting for them. */
export const runAtOnce = <A, E>(effect: Effect.Effect<A, E>): Either.Either<A, E> =>
  Effect.runSync(Effect.provide(Effect.either(effect), TestContext.TestContext))

/** A template's source. */
export const aTemplate = (yaml: string, files: Readonly<Record<string, TarEntry>> = {}) =>
  Effect.promise(() => tarOf(Object.entries({ "template.yaml": yaml, ...files })))

export const uuid = (last: number): Uuid.Uuid => Uuid.Uuid.make(`01890000-0000-7000-8000-${String(last).padStart(12, "0")}`)

export const aBuild = (values: Partial<BuildMetadata> = {}): BuildMetadata => ({
  access_url: "https://dev.example.com",
  transition: "start",
  workspace_id: uuid(1),
  workspace_name: "atelier",
  workspace_build_id: uuid(2),
  owner_id: uuid(3),
  owner_username: "ada",
  owner_name: "Ada O'Lovelace",
  owner_email: "ada@example.com",
  owner_login_type: "password",
  owner_groups: ["Everyone", "poets"],
  owner_ssh_public_key: "ssh-ed25519 AAAA ada",
  template_id: uuid(4),
  template_name: "node",
  template_version: "v1",
  ...values
})

export const aPlanInput = (
  values: {
    readonly metadata?: Partial<BuildMetadata>
    readonly parameters?: Readonly<Record<string, string>>
    readonly variables?: Readonly<Record<string, string>>
    readonly state?: Uint8Array
  } = {}
): PlanInput => ({
  metadata: aBuild(values.metadata),
  parameters: Object.entries(values.parameters ?? {}).map(([name, value]) => ({ name, value })),
  variables: Object.entries(values.variables ?? {}).map(([name, value]) => ({ name, value, sensitive: false })),
  previous_parameters: [],
  state: values.state ?? new Uint8Array(0)
})

/** A log sink and what it was given. */
export const aLog = () => {
  const lines: Array<ProvisionerLog> = []
  return { lines, sink: (line: ProvisionerLog) => Effect.sync(() => void lines.push(line)) }
}
