/** The names of parameters that a user gives values for. */
import type { Client } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import { usage } from "../Failure.js"
import type { Session } from "../Session.js"
import type { ParameterValue } from "./parameters.js"

interface Given {
  /** The template version's id. */
  readonly version: string
  /** The id of the workspace's owner. */
  readonly owner: string
  readonly given: ReadonlyArray<ParameterValue>
  /** The values that the workspace has without those. */
  readonly others?: ReadonlyArray<ParameterValue>
}

/** Refuses values of parameters that the template does not have for the other values. The service would leave them out without a word. */
export const requireParameters = async (
  client: Client,
  { given, others = [], owner, version }: Given,
  { signal }: Session
): Promise<void> => {
  if (given.length === 0) return
  const imported = await templateVersions.getTemplateVersionParameters(client, { templateversion: version }, { signal })
  const names = new Set(imported.map(({ name }) => name))
  if (given.every(({ name }) => names.has(name))) return
  // Values of other parameters may bring more of them
  const inputs = Object.fromEntries([...others, ...given].map(({ name, value }) => [name, value]))
  const form = await templateVersions.evaluateDynamicParameters(
    client,
    { templateversion: version, body: { id: 0, inputs, owner_id: owner } },
    { signal }
  )
  for (const { name } of form.parameters) names.add(name)
  const unknown = given.find(({ name }) => !names.has(name))
  if (unknown === undefined) return
  throw usage(
    `With these values the template has no parameter "${unknown.name}".`,
    names.size === 0 ? "it has none." : `it has ${[...names].join(", ")}.`
  )
}
