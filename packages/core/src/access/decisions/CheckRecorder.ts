/** A record of the decisions behind one request, for the debugging header of `enableAuthzRecordings`. authorization.md §1.4. */
import { Context } from "effect"
import type { AccessObject, Action } from "../Resource.js"

/** The most characters a summary has. */
const maxSummary = 2000
const cut = "<truncated>"

/** Collects decisions; keeps no more of them than a summary can show. */
export interface Recording {
  readonly record: (action: Action, object: AccessObject, allowed: boolean) => void
  /** The checks so far, in order, in at most 2000 characters; `nil` when there were none. */
  readonly summary: () => string
}

/** Where decisions are recorded to, if anywhere. */
export class CheckRecorder extends Context.Reference<CheckRecorder>()("@atelier/core/CheckRecorder", {
  defaultValue: (): Recording | null => null
}) {}

/** An empty recording. */
export const makeRecording = (): Recording => {
  let text = ""
  return {
    record: (action, object, allowed) => {
      if (text.length > maxSummary) return
      text += `${text === "" ? "" : "; "}${describe(action, object)}=${allowed}`
    },
    summary: () => (text === "" ? "nil" : text.length > maxSummary ? text.slice(0, maxSummary - cut.length) + cut : text)
  }
}

const describe = (action: Action, { type, id, org, owner, anyOrg }: AccessObject): string =>
  [anyOrg ? "organization:any" : org ? `organization:${org}` : "", owner ? `owner:${owner}` : "", id ? `id:${id}` : "", `${type}.${action}`]
    .filter((part) => part !== "")
    .join("::")
