/** An audit entry's sentence, in parts: the names are shown in another weight, and as text. */
import type { AuditLog } from "@atelier/client"
import { auditText } from "../../texts/logs.js"

export interface Part {
  readonly text: string
  readonly isName: boolean
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** The name of the object: entries about builds have that of the workspace. */
const targetOf = ({ additional_fields, resource_target }: AuditLog): string =>
  resource_target !== "" ? resource_target : textOf(additional_fields["workspace_name"])

export const sentenceOf = (entry: AuditLog): ReadonlyArray<Part> => {
  const { name = "", username = auditText.system } = entry.user ?? {}
  const names: Readonly<Record<string, string>> = { "{user}": name || username, "{target}": targetOf(entry) }
  return entry.description
    .split(/(\{user\}|\{target\})/)
    .map((text) => ({ text: names[text] ?? text, isName: text in names }))
    .filter(({ text }) => text !== "")
}

/** A value of a difference, as people read it. */
export const shownValue = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return auditText.nothing
  if (typeof value === "string") return value
  return typeof value === "object" ? JSON.stringify(value, undefined, 2) : String(value)
}
