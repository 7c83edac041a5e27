import { Context, Effect } from "effect"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { upstreamFailure } from "./ExternalAuthLogins.js"
import { ExternalAuthClients } from "./ExternalAuthClient.js"
import { ExternalAuthTokens } from "./ExternalAuthTokens.js"
import { NotFound, type UpstreamFailure } from "../platform/Errors.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { ExternalAuthView } from "./ExternalAuthView.js"
import { ExternalAuthDeclarations } from "./ExternalAuthDeclarations.js"

/** Providers that are asked at once. */
const concurrency = 8

/** The methods of {@link ExternalAuthRequirements}. */
export interface ExternalAuthRequirementsService {
  /**
   * Each provider that a version needs, with whether the user is signed in to it. Fails with `NotFound` while one is not configured, and
   * with `UpstreamFailure` while one cannot be asked.
   */
  readonly providers: (id: Uuid, userId: Uuid) => Effect.Effect<ReadonlyArray<ExternalAuthView>, NotFound | UpstreamFailure>

  /**
   * The ids of the providers that a user has to sign in to before a workspace of the version is created. Fails with `UpstreamFailure` while
   * one cannot be asked.
   */
  readonly missing: (id: Uuid, userId: Uuid) => Effect.Effect<ReadonlyArray<string>, UpstreamFailure>
}

const make = Effect.gen(function* () {
  const declarations = yield* ExternalAuthDeclarations
  const tokens = yield* ExternalAuthTokens
  const clients = yield* ExternalAuthClients
  const { accessUrl } = yield* DeploymentOptions
  const clientOf = (id: string) => clients.find(({ provider }) => provider.id === id)

  return {
    providers: (id: Uuid, userId: Uuid) =>
      Effect.flatMap(declarations.ofVersion(id), (needed) =>
        Effect.forEach(
          needed,
          (requirement) =>
            Effect.gen(function* () {
              const client = clientOf(requirement.id)
              if (client === undefined) {
                return yield* new NotFound({
                  message: `The deployment does not have the external authentication provider ${JSON.stringify(requirement.id)}.`
                })
              }
              const { display_icon, display_name, type } = client.provider
              const { authenticated } = yield* Effect.mapError(tokens.current(userId, client), upstreamFailure)
              const view: ExternalAuthView = {
                id: requirement.id,
                type,
                display_name,
                display_icon,
                authenticate_url: `${accessUrl}/external-auth/${requirement.id}`,
                authenticated,
                ...(requirement.optional ? { optional: true } : {})
              }
              return view
            }),
          { concurrency }
        )
      ),

    missing: (id: Uuid, userId: Uuid): Effect.Effect<ReadonlyArray<string>, UpstreamFailure> =>
      Effect.flatMap(declarations.ofVersion(id), (needed) =>
        Effect.map(
          Effect.filter(
            needed.filter(({ optional }) => !optional),
            ({ id: providerId }) => {
              const client = clientOf(providerId)
              return client === undefined
                ? Effect.succeed(true)
                : Effect.mapBoth(tokens.current(userId, client), {
                    onSuccess: ({ authenticated }) => !authenticated,
                    onFailure: upstreamFailure
                  })
            },
            { concurrency }
          ),
          (missing) => missing.map((requirement) => requirement.id)
        )
      )
  }
})

/** The external providers that versions of templates need. */
export class ExternalAuthRequirements extends Context.Tag("@atelier/core/ExternalAuthRequirements")<
  ExternalAuthRequirements,
  ExternalAuthRequirementsService
>() {
  static readonly layer = standingOn(service(ExternalAuthRequirements, make), ExternalAuthTokens.layer)
}
