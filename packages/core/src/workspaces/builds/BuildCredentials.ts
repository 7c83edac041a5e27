import { Context, Effect, Option } from "effect"
import { upstreamFailure } from "../../externalAuth/ExternalAuthLogins.js"
import { ExternalAuthClients } from "../../externalAuth/ExternalAuthClient.js"
import { ExternalAuthTokens } from "../../externalAuth/ExternalAuthTokens.js"
import { LinkTokens } from "../../identity/logins/LinkTokens.js"
import { GitSshKeyPairs } from "../../identity/secrets/GitSshKeyPairs.js"
import type { User } from "../../identity/users/User.js"
import type { UpstreamFailure } from "../../platform/Errors.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { BuildMetadata, ExternalAuthToken } from "../../provisioning/engines/ProvisionerEngine.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { isPrebuild, type Workspace } from "../Workspace.js"
import type { WorkspaceBuild } from "./WorkspaceBuild.js"
import { WorkspaceSessions } from "../sessions/WorkspaceSessions.js"
import * as Traced from "../../platform/wiring/Traced.js"

/** Providers that are asked at once. */
const concurrency = 8

/** The credentials of a start. The session is not valid before it is stored. */
export interface PreparedCredentials {
  readonly metadata: Pick<BuildMetadata, "owner_session_token" | "owner_ssh_private_key" | "owner_oidc_access_token">
  readonly external_auth: ReadonlyArray<ExternalAuthToken>
  /** Makes the session of the workspace's programs valid. */
  readonly store: Effect.Effect<void>
}

/** The credentials of its owner that a build is given, and the tokens of external providers. */
export interface CredentialsOfBuild {
  readonly metadata: Pick<BuildMetadata, "owner_session_token" | "owner_ssh_private_key" | "owner_oidc_access_token">
  readonly external_auth: ReadonlyArray<ExternalAuthToken>
}

/** The methods of {@link BuildCredentials}. */
export interface BuildCredentialsService {
  /** As `of` for a start of a workspace with an owner, before the start is certain. */
  readonly prepare: (
    build: Pick<WorkspaceBuild, "template_version_id">,
    workspace: Workspace,
    owner: User
  ) => Effect.Effect<PreparedCredentials, UpstreamFailure>

  /**
   * The credentials of its owner that a build is given. A start opens the session of the workspace's programs, other builds end it.
   * Prebuilt workspaces have none. Fails for a start whose providers cannot be asked. templates-and-provisioning.md §8.4.
   */
  readonly of: (
    build: Pick<WorkspaceBuild, "template_version_id" | "transition">,
    workspace: Workspace,
    owner: User
  ) => Effect.Effect<CredentialsOfBuild, UpstreamFailure>
}

const make = Effect.gen(function* () {
  const sessions = yield* WorkspaceSessions
  const links = yield* LinkTokens
  const sshKeys = yield* GitSshKeyPairs
  const versions = yield* TemplateVersionRepository
  const clients = yield* ExternalAuthClients
  const tokens = yield* ExternalAuthTokens

  /**
   * Invalid tokens are left out: a template may name a provider that its users need not sign in to. A start fails if a provider cannot be
   * asked; what ends a workspace goes on without it.
   */
  const externalAuthOf = (owner: User, { template_version_id, transition }: Pick<WorkspaceBuild, "template_version_id" | "transition">) =>
    Effect.flatMap(clients.length === 0 ? Effect.succeed([]) : versions.externalAuth(template_version_id), (needed) =>
      Effect.forEach(
        needed,
        ({ id }): Effect.Effect<ReadonlyArray<ExternalAuthToken>, UpstreamFailure> => {
          const client = clients.find(({ provider }) => provider.id === id)
          if (client === undefined) return Effect.succeed([])
          const current = Effect.map(tokens.current(owner.id, client), (standing) =>
            standing.authenticated ? [{ id, access_token: standing.tokens.access_token }] : []
          )
          return transition === "start" ? Effect.mapError(current, upstreamFailure) : Effect.orElseSucceed(current, () => [])
        },
        { concurrency }
      )
    )

  const ofOwner = (owner: User) =>
    Effect.gen(function* () {
      const pair = Option.getOrUndefined(yield* sshKeys.of(owner.id))
      return {
        owner_ssh_private_key: pair?.private_key,
        owner_oidc_access_token: owner.login_type === "oidc" ? Option.getOrUndefined(yield* links.accessToken(owner.id, "oidc")) : undefined
      }
    })

  return {
    prepare: Traced.fn("BuildCredentials.prepare")(function* (
      { template_version_id }: Pick<WorkspaceBuild, "template_version_id">,
      workspace: Workspace,
      owner: User
    ) {
      const external_auth = (yield* externalAuthOf(owner, { template_version_id, transition: "start" })).flat()
      const session = yield* sessions.prepare(workspace, owner)
      const metadata = { owner_session_token: session?.key, ...(yield* ofOwner(owner)) }
      return { metadata, external_auth, store: session?.store ?? Effect.void } satisfies PreparedCredentials
    }),

    of: Traced.fn("BuildCredentials.of")(function* (
      build: Pick<WorkspaceBuild, "template_version_id" | "transition">,
      workspace: Workspace,
      owner: User
    ) {
      const isStart = build.transition === "start"
      if (!isStart) yield* sessions.close(workspace)
      if (isPrebuild(workspace)) return { metadata: {}, external_auth: [] }
      // Before the session is opened, which a failure would leave behind
      const external_auth = (yield* externalAuthOf(owner, build)).flat()
      const ownerSecrets = yield* ofOwner(owner)
      return {
        metadata: {
          owner_session_token: isStart ? yield* sessions.open(workspace, owner) : undefined,
          ...ownerSecrets
        } satisfies Partial<BuildMetadata>,
        external_auth
      }
    })
  }
})

/** What engines are given to act for the owners of workspaces. */
export class BuildCredentials extends Context.Tag("@atelier/core/BuildCredentials")<BuildCredentials, BuildCredentialsService>() {
  static readonly layer = standingOn(
    service(BuildCredentials, make),
    WorkspaceSessions.layer,
    LinkTokens.layer,
    GitSshKeyPairs.layer,
    ExternalAuthTokens.layer
  )
}
