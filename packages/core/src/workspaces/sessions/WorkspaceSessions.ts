import { Context, Effect, Option, type Redacted } from "effect"
import { unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import { publishRightsChange } from "../../access/streams/RightsChanges.js"
import { allScope } from "../../access/scopes/Scope.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { newApiKey, newCredential } from "../../identity/sessions/ApiKey.js"
import { ApiKeyRepository } from "../../identity/sessions/ApiKeyRepository.js"
import type { User } from "../../identity/users/User.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { EventBus } from "../../platform/events/EventBus.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction, Transactor } from "../../platform/store/Transactor.js"
import { isPrebuild, type Workspace } from "../Workspace.js"
import { WorkspaceSessionRepository } from "./WorkspaceSessionRepository.js"
import { service } from "../../platform/wiring/Standing.js"

/** A session of a workspace's programs that is not valid yet. */
export interface PreparedSession {
  readonly key: Redacted.Redacted<string>
  /** Makes it valid, and ends the one before. */
  readonly store: Effect.Effect<void>
}

/** The methods of {@link WorkspaceSessions}. */
export interface WorkspaceSessionsService {
  /** Replaces the workspace's key. Returns what its programs present, which is shown only here. Prebuilt workspaces have none. workspaces.md §4.5. */
  readonly open: (workspace: Workspace, owner: Pick<User, "id" | "username">) => Effect.Effect<Redacted.Redacted<string> | undefined>

  /** As `open`, in two steps: what the programs present, and the effect that makes it valid in place of the workspace's key. */
  readonly prepare: (workspace: Workspace, owner: Pick<User, "id" | "username">) => Effect.Effect<PreparedSession | undefined>

  /** Ends the session of the workspace's programs, if they have one. */
  readonly close: (workspace: Pick<Workspace, "id" | "owner_id">) => Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const repository = yield* WorkspaceSessionRepository
  const keys = yield* ApiKeyRepository
  const { maxTokenLifetime } = yield* DeploymentOptions
  const services = Context.pick(Cryptography, EventBus, Transactor)(yield* Effect.context<Cryptography | EventBus | Transactor>())

  /** Deletes the workspace's key. Requests with it are refused from now on. */
  const close = (workspace: Pick<Workspace, "id" | "owner_id">) =>
    Effect.gen(function* () {
      const key = yield* repository.take(workspace.id)
      if (Option.isNone(key) || !(yield* keys.delete(key.value))) return
      // Of this key alone: each start of a workspace would have all that its owner has open judged again
      yield* publishRightsChange({ user_id: workspace.owner_id, api_key_id: key.value })
    })

  const prepare = (workspace: Workspace, owner: Pick<User, "id" | "username">): Effect.Effect<PreparedSession | undefined> =>
    Effect.gen(function* () {
      if (isPrebuild(workspace)) return undefined
      const { hashedSecret, id, key } = yield* newCredential
      const stored = newApiKey(
        {
          id,
          user_id: owner.id,
          login_type: "password",
          ip: "",
          token_name: `${owner.username}_${workspace.name}_session_token`,
          scopes: [allScope],
          allow_list: unrestrictedAllowList,
          lifetime: maxTokenLifetime
        },
        yield* Timestamp.now
      )
      const store = transaction(
        Effect.gen(function* () {
          yield* close(workspace)
          // Only names of tokens are unique
          yield* Effect.orDie(keys.insert(stored, hashedSecret))
          yield* repository.put(workspace.id, id)
        })
      )
      return { key, store: Effect.provide(store, services) }
    }).pipe(Effect.provide(services))

  return {
    prepare,

    open: (workspace: Workspace, owner: Pick<User, "id" | "username">) =>
      Effect.flatMap(prepare(workspace, owner), (session) =>
        session === undefined ? Effect.succeed(undefined) : Effect.as(session.store, session.key)
      ),

    close: (workspace: Pick<Workspace, "id" | "owner_id">) => Effect.provide(transaction(close(workspace)), services)
  }
})

/** Tokens with which a workspace's programs act as its owner, from a start to the next stop. workspaces.md §4.5. */
export class WorkspaceSessions extends Context.Tag("@atelier/core/WorkspaceSessions")<WorkspaceSessions, WorkspaceSessionsService>() {
  static readonly layer = service(WorkspaceSessions, make)
}
