/** Calls by which an agent makes, lists and removes agents of its own, such as those of containers. agents-and-apps.md §14. */
import type { AgentHandlers, AgentMessages } from "@atelier/agent-protocol"
import type { SubAgent, SubAgentsOfAgent } from "@atelier/core/agents"
import { Uuid, type Validation } from "@atelier/core/platform"
import { AppOpenIn, DisplayApp, type ProvisionedApp, SharingLevel } from "@atelier/core/provisioning"
import { Effect, Either, Redacted } from "effect"
import { answered, bytesOf, idOf, named } from "./values.js"

/** An app that an agent asks for, with the defaults of a template; or the reason why it is refused. */
const provisionedApp = (app: AgentMessages.SubAgentApp): Either.Either<ProvisionedApp, Validation> => {
  const share = app.share ?? "OWNER"
  const sharing_level = SharingLevel.literals.find((level) => level.toUpperCase() === share)
  if (sharing_level === undefined) return Either.left({ field: "share", detail: `${share} is not a sharing level` })
  const way = app.open_in ?? "SLIM_WINDOW"
  const open_in = AppOpenIn.literals.find((known) => known.replace("-", "_").toUpperCase() === way)
  if (open_in === undefined) return Either.left({ field: "open_in", detail: `${way} is not a way to open an app` })
  return Either.right({
    slug: app.slug,
    display_name: app.display_name ?? "",
    command: app.command ?? "",
    url: app.url ?? "",
    icon: app.icon ?? "",
    subdomain: app.subdomain ?? false,
    external: app.external ?? false,
    sharing_level,
    healthcheck: app.healthcheck ?? null,
    order: app.order ?? 0,
    group: app.group ?? "",
    hidden: app.hidden ?? false,
    open_in,
    tooltip: ""
  })
}

const subAgentMessage = ({ id, name, token }: SubAgent): AgentMessages.SubAgent => ({
  id: bytesOf(id),
  name,
  auth_token: bytesOf(Uuid.Uuid.make(Redacted.value(token)))
})

/** Answers an agent's calls about its own agents. */
export const subAgentCalls = (subAgents: SubAgentsOfAgent) =>
  ({
    CreateSubAgent: ({ apps: wanted, id, display_apps, ...request }) =>
      Effect.gen(function* () {
        const displayed = yield* Either.all(display_apps.map((app) => named("display_apps", DisplayApp.literals, app)))
        if (id !== undefined) {
          const { directory } = request
          const adopted = yield* answered(subAgents.adopt(yield* idOf("id", id), { directory, display_apps: displayed }))
          return { agent: subAgentMessage(adopted), app_creation_errors: [] }
        }
        const { agent: created, refused } = yield* answered(
          subAgents.create({ ...request, display_apps: displayed, apps: wanted.map(provisionedApp) })
        )
        return { agent: subAgentMessage(created), app_creation_errors: [...refused] }
      }),
    DeleteSubAgent: ({ id }) => Effect.flatMap(idOf("id", id), (subAgent) => Effect.as(answered(subAgents.remove(subAgent)), {})),
    ListSubAgents: () => Effect.map(answered(subAgents.list), (agents) => ({ agents: agents.map(subAgentMessage) }))
  }) satisfies Partial<AgentHandlers<unknown>>
