import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { Pty } from "@atelier/agent-protocol"
import { anonymousActor, CurrentActor } from "@atelier/core/access"
import { AgentTunnels } from "@atelier/core/agents"
import { AppVisits } from "@atelier/core/insights"
import { AgentDialer, terminalPort } from "@atelier/core/network"
import { Invalid, NotFound, Uuid } from "@atelier/core/platform"
import { AppAccess } from "@atelier/core/workspaces"
import { Either, Effect, Option } from "effect"
import { cookiesOf } from "../../apps/appHeaders.js"
import { SignedAppTokens, terminalRequest, tokenCookie } from "../../apps/SignedAppTokens.js"
import { rightThrough } from "../../server/request/Visit.js"
import { Caller } from "../../contract/authentication.js"
import * as contract from "../../contract/agents/terminals.js"
import { queryOf } from "../../pages/PageOptions.js"
import { callInfo, CurrentRequest } from "../../server/request/CurrentRequest.js"
import { Settings } from "../../server/request/Settings.js"
import { beginPassage, lost, passageOptions } from "../../sockets/agentPassage.js"
import { CloseSocket } from "../../sockets/closing.js"
import type { Connection } from "../../sockets/Connection.js"
import { WebSockets } from "../../sockets/WebSockets.js"
import * as Handlers from "../Handlers.js"

/** Bytes of a terminal's command, and of the names around it. */
const maximumText = 8 * 1024

interface Asked {
  readonly reconnect: string
  readonly height: string
  readonly width: string
  readonly command: string
  readonly container: string
  readonly container_user: string
  readonly backend_type: string
}

const maximumSize = 0xffff

/** A number of rows or columns, at most what a terminal can have; undefined for other texts. */
const sizeOf = (text: string): number | undefined => {
  if (text === "") return 80
  return /^\d{1,10}$/.test(text) ? Math.min(Number(text), maximumSize) : undefined
}

/** The terminal that a query asks for. Fails with `Invalid` that names each wrong parameter. */
const initOf = (asked: Asked): Either.Either<Uint8Array, Invalid> => {
  const id = Uuid.parse(asked.reconnect)
  const height = sizeOf(asked.height)
  const width = sizeOf(asked.width)
  const texts = ["command", "container", "container_user", "backend_type"] as const
  const validations = [
    ...(id === undefined ? [{ field: "reconnect", detail: "must be a valid UUID" }] : []),
    ...(height === undefined ? [{ field: "height", detail: "must be a whole number that is not negative" }] : []),
    ...(width === undefined ? [{ field: "width", detail: "must be a whole number that is not negative" }] : []),
    ...texts.flatMap((field) =>
      Buffer.byteLength(asked[field]) > maximumText ? [{ field, detail: `must have at most ${maximumText} bytes` }] : []
    )
  ]
  if (id === undefined || height === undefined || width === undefined || validations.length > 0) {
    return Either.left(new Invalid({ message: "The terminal cannot be opened with these parameters.", validations }))
  }
  const described = Pty.encodeInit({
    ID: id,
    Height: height,
    Width: width,
    Command: asked.command,
    Container: asked.container,
    ContainerUser: asked.container_user,
    BackendType: asked.backend_type
  })
  return Either.mapLeft(described, ({ message }) => new Invalid({ message }))
}

export const terminals = Handlers.group(contract.terminals, (handlers) =>
  Effect.gen(function* () {
    const access = yield* AppAccess
    const { dial } = yield* AgentDialer
    const visits = yield* AppVisits
    const tokens = yield* SignedAppTokens
    const tunnels = yield* AgentTunnels
    const { accessUrl, cookies, names } = yield* Settings

    /** The caller, by the session or else by a token for the terminal. */
    const callerOf = (request: HttpServerRequest.HttpServerRequest, id: string) =>
      Effect.gen(function* () {
        const info = yield* callInfo
        const user = yield* Caller
        if (Option.isSome(user)) return user.value
        const brought = new URLSearchParams(queryOf(request)).getAll(names.signedAppQuery)
        const candidates = [...brought, ...cookiesOf(request.headers["cookie"], names.signedAppCookie)]
        const claims = yield* tokens.read(candidates, terminalRequest(id))
        const holder = Option.isNone(claims) ? Option.none() : yield* tokens.holder(claims.value, info)
        return Option.getOrElse(holder, () => anonymousActor(info))
      })

    const dialed = (target: { readonly agent_id: Uuid.Uuid; readonly workspace_id: Uuid.Uuid }, init: Uint8Array) =>
      Effect.gen(function* () {
        const stream = yield* dial({ ...target, port: terminalPort })
        yield* stream.write(init)
        return stream
      }).pipe(
        Effect.timeoutFail({
          duration: "30 seconds",
          onTimeout: () => new CloseSocket({ code: 1011, reason: "The agent does not answer." })
        })
      )

    const noteRefusal = (id: Uuid.Uuid) =>
      Effect.flatMap(access.terminal(id), Option.match({ onNone: () => Effect.void, onSome: (terminal) => visits.log(terminal, 404) }))

    const open = handlers.handle("openTerminal", ({ path, request, urlParams }) =>
      Effect.gen(function* () {
        const actor = yield* callerOf(request, path.workspaceagent)
        const asked = yield* CurrentRequest
        const { visit } = asked
        const [granted, agent] = yield* access.openTerminal(path.workspaceagent).pipe(
          Effect.tapError(() => noteRefusal(path.workspaceagent)),
          Effect.provideService(CurrentActor, actor)
        )
        const init = yield* initOf(urlParams)
        const signed = terminalRequest(path.workspaceagent)
        const issued = yield* tokens.issue(signed, agent, actor)
        const isSecure = visit?.place.isSecure ?? cookies.secure
        const cookie = issued && tokenCookie(names.signedAppCookie, issued, { path: signed.base_path, isSecure })
        const { attach } = yield* WebSockets
        const begin = (connection: Connection) =>
          Effect.gen(function* () {
            yield* Effect.provideService(visits.begin(agent, 101), CurrentActor, actor)
            const dialing = Effect.mapError(dialed(agent, init), (error) => (error._tag === "CloseSocket" ? error : lost(error)))
            yield* beginPassage(connection, yield* Effect.provideService(dialing, CurrentRequest, asked))
          })
        return yield* attach(request, rightThrough(visit, granted), Effect.succeed(begin), {
          ...passageOptions,
          origins: [new URL(accessUrl).host],
          ...(cookie === undefined ? {} : { headers: { "set-cookie": cookie } })
        })
      })
    )

    const connect = open.handle("connectPort", ({ path, request, urlParams: { port } }) =>
      Effect.gen(function* () {
        yield* tunnels.refuseBrowserOnly
        const actor = yield* CurrentActor
        const [right, target] = yield* access.openPort(path.workspaceagent, port)
        const asked = yield* CurrentRequest
        const { attach } = yield* WebSockets
        const begin = (connection: Connection) =>
          Effect.gen(function* () {
            yield* Effect.provideService(visits.log(target, 101), CurrentActor, actor)
            const dialing = Effect.mapError(dial({ ...target, port }), lost)
            yield* beginPassage(connection, yield* Effect.provideService(dialing, CurrentRequest, asked))
          })
        return yield* attach(request, right, Effect.succeed(begin), passageOptions)
      })
    )

    return connect.handle("issueTerminalToken", ({ payload: { agentID, url } }) =>
      Effect.gen(function* () {
        const agent = yield* access.findTerminal(url, agentID)
        const issued = yield* tokens.issue(terminalRequest(agentID), agent, yield* CurrentActor)
        return issued === undefined ? yield* new NotFound({}) : { signed_token: issued.token }
      })
    )
  })
)
