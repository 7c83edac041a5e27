/** The blocks of a template in Terraform's language, with values and without Terraform. templates-and-provisioning.md §4.5. */
import { type PreviewInput, ProvisionFailure } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { type Attribute, type ConfiguredBody, type ModuleSource, readModule } from "./Configuration.js"
import { type Context, type Instance, Module, valueOrNone, variableValue } from "./Modules.js"
import { Work } from "./Scope.js"
import { EvaluationError, toBool, toNumber, toText, type Value } from "./Values.js"

/** What the data sources of the product say of a workspace that does not exist yet. */
const providedFor = ({ metadata }: PreviewInput): Context["provided"] => {
  const entries = (values: Readonly<Record<string, Value>>) => new Map(Object.entries(values))
  return new Map([
    [
      "coder_workspace_owner",
      entries({
        id: metadata.owner_id,
        name: metadata.owner_username,
        full_name: metadata.owner_name,
        email: metadata.owner_email,
        groups: metadata.owner_groups,
        login_type: metadata.owner_login_type,
        rbac_roles: (metadata.owner_rbac_roles ?? []).map(({ name, org_id }) => entries({ name, org_id })),
        ssh_public_key: metadata.owner_ssh_public_key
      })
    ],
    [
      "coder_workspace",
      entries({
        access_url: metadata.access_url,
        transition: metadata.transition,
        start_count: 1,
        prebuild_count: 0,
        is_prebuild: false,
        is_prebuild_claim: false
      })
    ]
  ])
}

/** The modules of a source; folders are read once for all its forms. */
export type Modules = (folder: string) => ModuleSource | undefined

export const makeModules = (files: ReadonlyMap<string, Uint8Array>): Modules => {
  const known = new Map<string, ModuleSource | undefined>()
  return (folder) => {
    if (!known.has(folder)) known.set(folder, readModule(files, folder))
    return known.get(folder)
  }
}

export interface Source {
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly modules: Modules
}

/** The root module with the values of an input. Fails with `EvaluationError`, which is thrown. */
export const rootOf = ({ files, modules }: Source, input: PreviewInput): Module => {
  const source = modules(".")
  if (source === undefined) throw new EvaluationError({ cause: "the source has no files of Terraform" })
  const context: Context = {
    work: new Work(),
    files,
    inputs: new Map(input.parameters.map(({ name, value }) => [name, value])),
    provided: providedFor(input),
    source: modules
  }
  const variables = input.variables.flatMap(({ name, value }) => {
    const type = source.blocks.get(`var.${name}`)?.attributes.get("type")
    return value === "" ? [] : [[name, () => variableValue(type?.expression(), value)] as const]
  })
  return new Module(context, source, new Map(variables))
}

/** A block with the module and the names it is evaluated in. */
export class Place {
  constructor(
    readonly module: Module,
    readonly body: ConfiguredBody,
    readonly names: Instance["names"]
  ) {}

  /** Null without the attribute; throws `EvaluationError`. */
  value(name: string): Value {
    const attribute: Attribute | undefined = this.body.attributes.get(name)
    return attribute === undefined ? null : this.module.value(attribute, this.names)
  }

  text(name: string): string {
    return valueOrNone(() => toText(this.value(name))) ?? ""
  }

  /** A text that is known, or undefined. */
  known(name: string): string | undefined {
    return valueOrNone(() => toText(this.value(name)))
  }

  flag(name: string): boolean {
    return valueOrNone(() => toBool(this.value(name))) ?? false
  }

  number(name: string): number | null {
    const value = valueOrNone(() => toNumber(this.value(name)))
    return value === undefined || !Number.isSafeInteger(Math.trunc(value)) ? null : Math.trunc(value)
  }
}

const failure = (error: unknown): ProvisionFailure => {
  if (error instanceof EvaluationError) return new ProvisionFailure({ message: error.cause })
  throw error
}

export const reading = <A>(read: () => A): Effect.Effect<A, ProvisionFailure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      return failure(error)
    }
  })
