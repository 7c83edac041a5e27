/** The rules for the resources that a job's engine returns, checked before they are stored. templates-and-provisioning.md §10.2. */
import { isUnsafeAddress } from "../../platform/texts/Address.js"
import { Invalid, type Validation } from "../../platform/Errors.js"
import type {
  ProvisionedAgent,
  ProvisionedApp,
  ProvisionedDevcontainer,
  ProvisionedResource
} from "../../provisioning/engines/ProvisionedResource.js"
import { allAgents } from "../manifest/Devcontainer.js"

const agentName = /^[a-z0-9](-?[a-z0-9])*$/i
const appSlug = /^[a-z0-9](-?[a-z0-9])*$/

/** The largest number of characters of a stored text, by field. agents-and-apps.md §3, §6, §8. */
const agentMaxima = { name: 64, architecture: 64, operating_system: 64, directory: 4096 } as const
const appMaxima = { display_name: 64, icon: 256, command: 65_534, url: 65_534, group: 64, tooltip: 2048 } as const
const devcontainerMaxima = { name: 64, workspace_folder: 4096, config_path: 4096 } as const
const metadataMaxima = { display_name: 127, key: 127, script: 65_535 } as const

/** Agents, apps, scripts and metadata of one job: what a build may store at most. */
const maximumParts = 10_000

const tooLong = <K extends string>(
  what: string,
  maxima: Readonly<Record<K, number>>,
  value: Readonly<Record<NoInfer<K>, string>>
): ReadonlyArray<Validation> =>
  (Object.keys(maxima) as Array<K>).flatMap((field) =>
    value[field].length > maxima[field] ? [{ field, detail: `The ${field} of ${what} has more than ${maxima[field]} characters` }] : []
  )

const duplicates = (keys: ReadonlyArray<string>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const twice = keys.filter((key) => seen.has(key) || !seen.add(key))
  return Array.from(new Set(twice))
}

export const containsNul = (value: unknown): boolean => {
  if (typeof value === "string") return value.includes("\0")
  return typeof value === "object" && value !== null && Object.entries(value).some(([key, item]) => key.includes("\0") || containsNul(item))
}

/** The fields that hold an address of a scheme that may run or show what the address itself holds. */
const unsafe = <K extends string>(
  what: string,
  fields: ReadonlyArray<K>,
  value: Readonly<Record<NoInfer<K>, string>>
): ReadonlyArray<Validation> =>
  fields.flatMap((field) =>
    isUnsafeAddress(value[field]) ? [{ field, detail: `The ${field} of ${what} has a scheme that is not allowed` }] : []
  )

export const appViolations = (app: ProvisionedApp, agent: Pick<ProvisionedAgent, "name">): ReadonlyArray<Validation> => {
  const what = `the app ${JSON.stringify(app.slug)} of the agent ${JSON.stringify(agent.name)}`
  if (app.slug === "") return [{ field: "slug", detail: `An app of the agent ${JSON.stringify(agent.name)} has no slug` }]
  return [
    ...(appSlug.test(app.slug) ? [] : [{ field: "slug", detail: `The slug of ${what} must match ${appSlug.source}` }]),
    ...unsafe(what, ["url"], app),
    ...tooLong(what, appMaxima, app)
  ]
}

const devcontainerViolations = (container: ProvisionedDevcontainer, agent: Pick<ProvisionedAgent, "name">): ReadonlyArray<Validation> => {
  const what = `the dev container ${JSON.stringify(container.name)} of the agent ${JSON.stringify(agent.name)}`
  return container.workspace_folder === ""
    ? [{ field: "workspace_folder", detail: `The workspace_folder of ${what} is missing` }]
    : tooLong(what, devcontainerMaxima, container)
}

/** What an agent breaks by itself, its apps left out. */
export const agentViolations = (agent: Omit<ProvisionedAgent, "auth">): ReadonlyArray<Validation> => {
  const what = `the agent ${JSON.stringify(agent.name)}`
  return [
    ...(agentName.test(agent.name) ? [] : [{ field: "name", detail: `The name of ${what} must match ${agentName.source}` }]),
    ...tooLong(what, agentMaxima, agent),
    ...unsafe(what, ["troubleshooting_url"], agent),
    ...(agent.devcontainers ?? []).flatMap((container) => devcontainerViolations(container, agent)),
    ...agent.metadata.flatMap((item) => tooLong(`the metadata ${JSON.stringify(item.key)} of ${what}`, metadataMaxima, item)),
    ...duplicates(agent.metadata.map(({ key }) => key)).map((key) => ({
      field: "key",
      detail: `${what} has several metadata items with the key ${JSON.stringify(key)}`
    }))
  ]
}

const resourceViolations = (resource: ProvisionedResource): ReadonlyArray<Validation> => {
  const agents = allAgents(resource)
  const apps = agents.flatMap((agent) => agent.apps)
  return [
    ...agents.flatMap((agent) => [...agentViolations(agent), ...agent.apps.flatMap((app) => appViolations(app, agent))]),
    ...duplicates(agents.map(({ name }) => name.toLowerCase())).map((name) => ({
      field: "name",
      detail: `The resource ${JSON.stringify(resource.name)} has several agents named ${JSON.stringify(name)}`
    })),
    ...duplicates(apps.map(({ slug }) => slug)).map((slug) => ({
      field: "slug",
      detail: `The resource ${JSON.stringify(resource.name)} has several apps with the slug ${JSON.stringify(slug)}`
    }))
  ]
}

const parts = (resources: ReadonlyArray<ProvisionedResource>): number =>
  resources.reduce(
    (count, resource) =>
      allAgents(resource).reduce(
        (sum, { apps, devcontainers = [], metadata, scripts }) =>
          sum + 1 + apps.length + devcontainers.length + scripts.length + metadata.length,
        count + 1
      ),
    0
  )

/** Everything a job's resources break, as the one refusal that fails the job; undefined when they may be stored. */
export const resourcesViolation = (resources: ReadonlyArray<ProvisionedResource>): Invalid | undefined => {
  if (parts(resources) > maximumParts)
    return new Invalid({ message: `The job made more than ${maximumParts} resources, agents, apps and scripts` })
  // Texts are stored as they are, and no store keeps a NUL
  if (containsNul(resources)) return new Invalid({ message: "The job's resources contain a NUL character" })
  const appIds = resources.flatMap((resource) => allAgents(resource).flatMap(({ apps }) => apps.flatMap(({ id }) => id ?? [])))
  const validations = [
    ...resources.flatMap(resourceViolations),
    ...duplicates(appIds).map((id) => ({ field: "id", detail: `Several apps have the id ${id}` }))
  ]
  const [first] = validations
  return first === undefined ? undefined : new Invalid({ message: first.detail, validations })
}
