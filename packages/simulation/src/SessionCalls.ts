/** Calls with sessions and tokens: users are given some, use them, follow workspaces with them, and end them. */
import { Access, StreamRights } from "@atelier/core/access"
import { ApiKeys, Sessions } from "@atelier/core/identity"
import type { Uuid } from "@atelier/core/platform"
import { Workspaces, type WorkspaceView } from "@atelier/core/workspaces"
import { Effect, Exit, Stream } from "effect"
import { at, type Left, type Session, type Watcher } from "./Left.js"
import { asUser, emailOf, password } from "./Setting.js"

export const sessionCallKinds = [
  "log in",
  "make token",
  "use session",
  "use session",
  "end session",
  "end session",
  "follow",
  "follow"
] as const
export type SessionCallKind = (typeof sessionCallKinds)[number]

/** Follows a workspace until the stream ends. */
export const following = (id: Uuid.Uuid, { watching }: Left, session: Session | undefined) =>
  Effect.gen(function* () {
    const { values } = yield* StreamRights
    const watcher: Watcher = { workspaceId: id, session, buildId: undefined, status: undefined, isOpen: true }
    const show = (shown: Exit.Exit<WorkspaceView, unknown>) =>
      Effect.sync(() => {
        if (Exit.isFailure(shown)) return
        watcher.buildId = shown.value.latest_build.id
        watcher.status = shown.value.latest_build.status
      })
    const stream = yield* Effect.flatMap(Workspaces, ({ watch }) => watch(id))
    watching(watcher)
    yield* Effect.ensuring(
      Stream.runForEach(values(stream), show),
      Effect.sync(() => void (watcher.isOpen = false))
    )
  })

/** Acts with a session, which must not have ended before. */
const using = (session: Session) =>
  Effect.gen(function* () {
    const hadEnded = session.endedAt !== undefined
    const actor = yield* Effect.flatMap(Sessions, ({ authenticate }) => authenticate(session.token, {}))
    if (hadEnded) return yield* Effect.dieMessage("a session that a user has ended was taken")
    return actor
  })

// What ends a session asks for the services of the replica that is told to end it: the one that has made it may be gone

const loggedIn = (user: number) =>
  Effect.gen(function* () {
    const token = yield* Effect.flatMap(Sessions, ({ logIn }) => logIn({ email: emailOf(user), password }, {}))
    const end = Effect.flatMap(Sessions, ({ authenticate, logOut }) =>
      Effect.flatMap(authenticate(token, {}), (actor) => Access.actingAs(actor)(logOut()))
    )
    const session: Session = { token, end, endedAt: undefined }
    return session
  })

const tokenOf = (user: Uuid.Uuid, token_name: string) =>
  Effect.gen(function* () {
    const token = yield* asUser(
      user,
      Effect.flatMap(ApiKeys, ({ createToken }) => createToken("me", { token_name }))
    )
    const end = asUser(
      user,
      Effect.flatMap(ApiKeys, (keys) => Effect.flatMap(keys.byName("me", token_name), ({ id }) => keys.delete("me", id)))
    )
    const session: Session = { token, end, endedAt: undefined }
    return session
  })

/** The call as an effect. `user` is the user's place among the users, and `actor` the user's id. */
export const sessionCallOf = (
  kind: SessionCallKind,
  { actor, name, target, user }: { readonly actor: Uuid.Uuid; readonly name: string; readonly target: number; readonly user: number },
  left: Left
) =>
  Effect.gen(function* () {
    if (kind === "log in") return void left.sessions.push(yield* loggedIn(user))
    if (kind === "make token") return void left.sessions.push(yield* tokenOf(actor, name))
    const session = at(left.sessions, target)
    if (session === undefined) return
    const holder = yield* using(session)
    if (kind === "end session") {
      yield* session.end
      session.endedAt = left.now()
    }
    if (kind === "follow") {
      const follow = Effect.gen(function* () {
        const { workspaces } = yield* Effect.flatMap(Workspaces, ({ list }) => list("owner:me", { limit: 20, offset: 0 }))
        const workspace = at(workspaces, target)
        if (workspace !== undefined) yield* following(workspace.id, left, session)
      })
      yield* Access.actingAs(holder)(follow)
    }
  })
