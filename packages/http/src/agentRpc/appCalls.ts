/** Calls of agents about their apps. agents-and-apps.md §14. */
import type { AgentHandlers } from "@atelier/agent-protocol"
import { AppHealth, type AppReportsOfAgent, AppState } from "@atelier/core/agents"
import { Effect, Either } from "effect"
import { answered, idOf, named } from "./values.js"

/** Takes in what an agent finds of its apps. */
export const appCalls = (apps: AppReportsOfAgent) =>
  ({
    BatchUpdateAppHealths: ({ updates }) =>
      Effect.gen(function* () {
        const sent = updates.map(({ health, id }) =>
          Either.all({ id: idOf("id", id), health: named("health", AppHealth.literals, health) })
        )
        yield* answered(apps.healths(yield* Either.all(sent)))
        return {}
      }),

    UpdateAppStatus: ({ message, slug, state, uri }) =>
      Effect.as(
        answered(apps.status({ app_slug: slug, state: Either.getOrUndefined(named("state", AppState.literals, state)), message, uri })),
        {}
      )
  }) satisfies Partial<AgentHandlers<unknown>>
