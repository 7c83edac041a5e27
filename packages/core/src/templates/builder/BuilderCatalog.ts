/** What the template builder makes templates of. deployment.md §11. */
import { Context } from "effect"

export type BuilderVariableType = "string" | "number" | "bool"

/** A variable of a base or module. */
export interface BuilderVariable {
  readonly name: string
  readonly type: BuilderVariableType
  readonly description: string
  /** What it is without a value; absent if it has to be given. */
  readonly default?: string | number | boolean | null
  /** The builder writes no such value: the template's version asks for it. */
  readonly sensitive?: boolean
  /** The expression that the builder sets it to, such as `coder_agent.main.id`. Callers neither see nor set it. */
  readonly computed?: string
}

/** A template to begin with. */
export interface BuilderBase {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly icon: string
  /** That of its workspaces: `linux`, `windows` or `darwin`. */
  readonly os: string
  /** What has to be there before it can be used, in Markdown. */
  readonly prerequisites: string
  readonly variables: ReadonlyArray<BuilderVariable>
  /**
   * Its files by path, with `main.tf` and `README.md`. Modules refer to `data.coder_workspace.me` and `coder_agent.main`. The builder adds
   * `variables.tf` and `modules.tf`.
   */
  readonly files: Readonly<Record<string, string>>
}

/** A part that templates can have. */
export interface BuilderModule {
  readonly id: string
  readonly display_name: string
  readonly description: string
  readonly icon: string
  readonly category: string
  readonly version: string
  /** Its address in the registry, such as `acme/editor/coder`; or its files, which the template gets below `modules/`. */
  readonly source: string | Readonly<Record<string, string>>
  readonly compatible_os: ReadonlyArray<string>
  readonly conflicts_with: ReadonlyArray<string>
  readonly variables: ReadonlyArray<BuilderVariable>
}

/** The bases and modules of this server; none unless the host has some. */
export class BuilderCatalog extends Context.Reference<BuilderCatalog>()("@atelier/core/BuilderCatalog", {
  defaultValue: (): { readonly bases: ReadonlyArray<BuilderBase>; readonly modules: ReadonlyArray<BuilderModule> } => ({
    bases: [],
    modules: []
  })
}) {}
