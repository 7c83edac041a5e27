import { Context, Effect, Layer, Option } from "effect"
import { ExternalAuthClients } from "../deployment/externalAuth/ExternalAuthClient.js"
import { ExternalAuthTokens } from "../deployment/externalAuth/ExternalAuthTokens.js"
import { LinkTokens } from "../identity/logins/LinkTokens.js"
import { GitSshKeyPairs } from "../identity/secrets/GitSshKeyPairs.js"
import type { User } from "../identity/users/User.js"
import { standingOn } from "../platform/Standing.js"
import type { BuildMetadata, ExternalAuthToken } from "../provisioning/ProvisionerEngine.js"
import { TemplateVersionRepository } from "../templates/TemplateVersionRepository.js"
import { isPrebuild, type Workspace } from "./Workspace.js"
import type { WorkspaceBuild } from "./WorkspaceBuild.js"
import { WorkspaceSessions } from "./WorkspaceSessions.js"

/** Providers that are asked at once. */
const concurrency = 8

const make = Effect.gen(function* () {
  const sessions = yield* WorkspaceSessions
  const links = yield* LinkTokens
  const sshKeys = yield* GitSshKeyPairs
  const versions = yield* TemplateVersionRepository
  const clients = yield* ExternalAuthClients
  const tokens = yield* ExternalAuthTokens

  /** What is not valid is left out: a template may name a provider that its users need not sign in to. */
  const externalAuthOf = (owner: User, { template_version_id }: Pick<WorkspaceBuild, "template_version_id">) =>
    Effect.flatMap(versions.externalAuth(template_version_id), (needed) =>
      Effect.forEach(
        needed,
        ({ id }): Effect.Effect<ReadonlyArray<ExternalAuthToken>> => {
          const client = clients.find(({ provider }) => provider.id === id)
          if (client === undefined) return Effect.succeed([])
          return Effect.match(tokens.current(owner.id, client), {
            onSuccess: (standing) => (standing.authenticated ? [{ id, access_token: standing.tokens.access_token }] : []),
            onFailure: () => []
          })
        },
        { concurrency }
      )
    )

  return {
    /**
     * The credentials of its owner that a build is given. A start opens the session of the workspace's programs, other builds end it.
     * Prebuilt workspaces have none. templates-and-provisioning.md §8.4.
     */
    of: Effect.fn("BuildCredentials.of")(function* (build: WorkspaceBuild, workspace: Workspace, owner: User) {
      const isStart = build.transition === "start"
      if (!isStart) yield* sessions.close(workspace)
      if (isPrebuild(workspace)) return { metadata: {}, external_auth: [] }
      const pair = Option.getOrUndefined(yield* sshKeys.of(owner.id))
      return {
        metadata: {
          owner_session_token: isStart ? yield* sessions.open(workspace, owner) : undefined,
          owner_ssh_private_key: pair?.private_key,
          owner_oidc_access_token:
            owner.login_type === "oidc" ? Option.getOrUndefined(yield* links.accessToken(owner.id, "oidc")) : undefined
        } satisfies Partial<BuildMetadata>,
        external_auth: (yield* externalAuthOf(owner, build)).flat()
      }
    })
  }
})

/** What engines are given to act for the owners of workspaces. */
export class BuildCredentials extends Context.Tag("@atelier/core/BuildCredentials")<
  BuildCredentials,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = standingOn(
    Layer.effect(BuildCredentials, make),
    WorkspaceSessions.layer,
    LinkTokens.layer,
    GitSshKeyPairs.layer,
    ExternalAuthTokens.layer
  )
}
