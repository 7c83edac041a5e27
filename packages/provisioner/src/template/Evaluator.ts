/** Puts values into the texts of one template, and collects what is wrong with them. */
import type { PreviewInput } from "@atelier/core/provisioning"
import { Either, Redacted } from "effect"
import type { Place } from "./AgentEvaluation.js"
import { type Condition, type Namespace, TemplateText } from "./Expression.js"
import { holds, render, type Scope } from "./Interpolation.js"
import { localPath } from "../engine/LocalPath.js"
import type { TextOrScalar, Value } from "./definition/Field.js"
import type { Template } from "./TemplateSource.js"
import { formatPath, maximumProblems, type Path, type Problem } from "./YamlSource.js"

/** UTF-16 units that all texts of one evaluation may have together: repetition must not turn a small template into a huge one. */
const maximumTotal = 32 * 1024 * 1024
/** UTF-16 units of one text, where nothing else is said. */
export const maximumText = 65_535
/** UTF-16 units of a script. */
export const maximumScript = 1024 * 1024

export class Evaluator {
  readonly problems: Array<Problem> = []
  readonly parameterValues = new Map<string, string>()
  readonly variableValues = new Map<string, string>()
  private remaining = maximumTotal

  constructor(
    readonly template: Template,
    readonly input: PreviewInput,
    readonly place: Pick<Place, "port" | "token">
  ) {}

  readonly scope: Scope = (namespace, name) => {
    switch (namespace) {
      case "parameter":
        return this.parameterValues.get(name) ?? ""
      case "variable":
        return this.variableValues.get(name) ?? ""
      case "agent_token":
        return this.place.token(name)
      default:
        return metadataValue(this.input, this.place, namespace, name)
    }
  }

  report(path: Path, cause: string, offset = 0): void {
    if (this.problems.length < maximumProblems)
      this.problems.push(this.template.yaml.problem(path, `${formatPath(path)}: ${cause}`, offset))
  }

  /** The text's value, of at most `max` UTF-16 units. */
  text(text: TemplateText | undefined, path: Path, max = maximumText): string {
    if (text === undefined) return ""
    const rendered = render(text, this.scope, Math.min(max, this.remaining))
    if (Either.isLeft(rendered)) {
      this.report(path, rendered.left.message, rendered.left.offset)
      return ""
    }
    this.remaining -= rendered.right.length
    return rendered.right
  }

  scalar(value: TextOrScalar, path: Path, max = maximumText): string {
    return value instanceof TemplateText ? this.text(value, path, max) : String(value)
  }

  /** A value of any type as the text it travels as. */
  value(value: Value, path: Path): string {
    return typeof value === "object" && !(value instanceof TemplateText)
      ? JSON.stringify(value.map((element, index) => this.text(element, [...path, index])))
      : this.scalar(value, path)
  }

  exists(when: Condition | undefined, path: Path): boolean {
    if (when === undefined) return true
    const answer = holds(when, this.scope, maximumText)
    if (Either.isRight(answer)) return answer.right
    this.report([...path, "when"], answer.left.message, answer.left.offset)
    return false
  }

  /** The entries whose condition holds, each made by `make`. */
  present<A extends { readonly when?: Condition | undefined }, B>(
    entries: ReadonlyArray<A>,
    path: Path,
    make: (entry: A, path: Path) => B
  ): ReadonlyArray<B> {
    return entries.flatMap((entry, index) => (this.exists(entry.when, [...path, index]) ? [make(entry, [...path, index])] : []))
  }

  /** A path beneath the workspace's directory, for which `~` stands; undefined where it leads elsewhere. */
  pathBeneath(text: TemplateText | undefined, path: Path): string | undefined {
    const rendered = this.text(text, path, 4096).replace(/^~(?=\/|$)/, ".")
    return rendered === "" ? "" : this.localPath(rendered, path, "; it must stay beneath the workspace's directory")
  }

  /** A path that stays where it is put; undefined where it leads elsewhere. */
  localPath(text: string, path: Path, hint = ""): string | undefined {
    const local = localPath(text)
    if (Either.isRight(local)) return local.right
    this.report(path, `${JSON.stringify(text)} ${local.left}${hint}`)
    return undefined
  }
}

const metadataValue = (
  { metadata }: PreviewInput,
  { port }: Pick<Place, "port">,
  namespace: Exclude<Namespace, "parameter" | "variable" | "agent_token">,
  name: string
): string => {
  const { owner_session_token, task } = metadata
  const values: Readonly<Record<typeof namespace, Readonly<Record<string, string>>>> = {
    workspace: {
      id: metadata.workspace_id,
      name: metadata.workspace_name,
      transition: metadata.transition,
      build_id: metadata.workspace_build_id,
      access_url: metadata.access_url,
      port: String(port)
    },
    owner: {
      id: metadata.owner_id,
      username: metadata.owner_username,
      name: metadata.owner_name,
      email: metadata.owner_email,
      login_type: metadata.owner_login_type,
      groups: JSON.stringify(metadata.owner_groups),
      ssh_public_key: metadata.owner_ssh_public_key,
      session_token: owner_session_token === undefined ? "" : Redacted.value(owner_session_token)
    },
    task: { enabled: String(task !== undefined), id: task?.id ?? "", prompt: task?.prompt ?? "" },
    template: { id: metadata.template_id, name: metadata.template_name, version: metadata.template_version }
  }
  return values[namespace][name] ?? ""
}
