/** The blocks of a template in Terraform's language, with values and without Terraform. templates-and-provisioning.md §4.5. */
import { type PreviewInput, ProvisionFailure } from "@atelier/core/provisioning"
import { Effect } from "effect"
import type { Attribute, ConfiguredBody } from "./Configuration.js"
import { EvaluationError } from "./EvaluationError.js"
import { type Context, type Instance, Module, valueOrNone, variableValue } from "./Modules.js"
import type { ModuleTree } from "./ModuleTree.js"
import { toBool, toNumber, toText, type Value } from "./Values.js"
import { Work } from "./Work.js"

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

/** The root module with the values of an input. Fails with `EvaluationError`, which is thrown. */
export const rootOf = (tree: ModuleTree, input: PreviewInput): Module => {
  const source = tree.module("")
  if (source === undefined) throw new EvaluationError({ cause: "the source has no files of Terraform" })
  const context: Context = {
    work: new Work(),
    tree,
    inputs: new Map(input.parameters.map(({ name, value }) => [name, value])),
    provided: providedFor(input)
  }
  const variables = input.variables.flatMap(({ name, value }) => {
    const type = source.blocks.get(`var.${name}`)?.attributes.get("type")
    return value === "" ? [] : [[name, () => variableValue(type?.expression(), value)] as const]
  })
  return new Module(context, source, new Map(variables))
}

/** The module and those that it calls, as far as their numbers are known. Throws `EvaluationError` where work has no bound. */
export function* withCalled(module: Module): Generator<Module> {
  yield module
  for (const block of module.source.blocks.values()) {
    if (block.type !== "module") continue
    // The form tells what is wrong with the call
    for (const [, inner] of valueOrNone(() => module.modules(block.labels[0] ?? "")) ?? []) yield* withCalled(inner)
  }
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
    if (!this.body.attributes.has(name)) return ""
    return valueOrNone(() => toText(this.value(name))) ?? ""
  }

  /** A text that is known, or undefined. */
  known(name: string): string | undefined {
    return valueOrNone(() => toText(this.value(name)))
  }

  flag(name: string): boolean {
    if (!this.body.attributes.has(name)) return false
    return valueOrNone(() => toBool(this.value(name))) ?? false
  }

  number(name: string): number | null {
    if (!this.body.attributes.has(name)) return null
    const value = valueOrNone(() => toNumber(this.value(name)))
    return value === undefined || !Number.isSafeInteger(Math.trunc(value)) ? null : Math.trunc(value)
  }
}

const failure = (error: unknown): ProvisionFailure => {
  if (error instanceof EvaluationError) return new ProvisionFailure({ message: error.cause })
  if (!(error instanceof RangeError)) throw error
  // The stack ended: values can hold each other through any number of references
  const isStack = error.message === "Maximum call stack size exceeded"
  return new ProvisionFailure({ message: `the values of the template are too ${isStack ? "deep in each other" : "large"}` })
}

export const reading = <A>(read: () => A): Effect.Effect<A, ProvisionFailure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      return failure(error)
    }
  })
