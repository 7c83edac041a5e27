/**
 * Passes requests on to apps without an effect: those without a body whose admission is kept, to apps that speak HTTP without TLS.
 * All others take the way of `appExchange`, and so does a request that finds its connection broken.
 * agents-and-apps.md §19.
 */
import { StreamRights } from "@atelier/core/access"
import { AppVisits } from "@atelier/core/insights"
import { AgentDialer } from "@atelier/core/network"
import { Effect, Runtime } from "effect"
import type { ServerResponse } from "node:http"
import * as Upgrades from "../server/connection/Upgrades.js"
import { givesBack } from "../server/connection/LentBody.js"
import { Draining } from "../server/operate/Draining.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import type { Admitted, Passing } from "../server/pipeline/AppServer.js"
import type { AppMessages } from "./appMessages.js"
import { idle } from "./appExchange.js"
import { addedQuery } from "./appRequest.js"
import { AppFailed, failureOf, openingPlain } from "./appReach.js"
import type { PlainConnection, PlainConnections } from "./PlainConnections.js"
import { headLines, requestHead } from "./requestHead.js"

/** Bytes that wait for a client above which its app waits too: more than a read brings, whose pieces leave in one write. */
const maximumUnsent = 128 * 1024

/** Decides which requests take this way. */
const passableBy =
  (queryOf: AppMessages["queryOf"]): Passing["mayPass"] =>
  ({ headers, method, source }, app, { url }) =>
    (method === "GET" || method === "HEAD") &&
    headers["content-length"] === undefined &&
    headers["transfer-encoding"] === undefined &&
    headers["expect"] === undefined &&
    headers["upgrade"] === undefined &&
    !Upgrades.isOffered(source) &&
    url.protocol === "http:" &&
    app.path !== "" &&
    addedQuery(url, app.path, queryOf(app.query)) === ""

/** Makes the head of a request as the app gets it; undefined where it cannot be one. */
const headBy =
  ({ linesOf, pathOf, queryOf }: AppMessages) =>
  ({ admission, app, info, known, peer, request }: Admitted): string | undefined => {
    const lines = known?.forApp ?? headLines(linesOf(request, info, peer))
    if (known !== undefined) known.forApp = lines
    return requestHead(request.method, pathOf(app, admission.url, queryOf(app.query)), lines)
  }

/** Returns how an app waits until its client takes more, and how to listen to the client no longer. Few requests wait. */
const waitingFor = (client: ServerResponse, connection: () => PlainConnection | undefined) => {
  const drained = (): void => connection()?.resume()
  let isWaiting = false
  return {
    wait: (): void => {
      connection()?.pause()
      if (!isWaiting) client.on("drain", drained)
      isWaiting = true
    },
    leave: (): void => {
      if (isWaiting) client.off("drain", drained)
    }
  }
}

export const appPassing = (messages: AppMessages, connections: PlainConnections) =>
  Effect.gen(function* () {
    const { queryOf, writeHead } = messages
    const headOf = headBy(messages)
    const rights = yield* StreamRights
    const draining = yield* Draining
    const visits = yield* AppVisits
    const dialer = yield* AgentDialer
    const heartbeat = yield* Heartbeat
    const clock = yield* Effect.clock
    const runtime = yield* Effect.runtime<never>()
    const pass: Passing["pass"] = (admitted, { again, end, failed, interrupted }) => {
      const { admission, info, request } = admitted
      const { actor, right, target, url } = admission
      const { method, response: client } = request
      const head = headOf(admitted)
      if (head === undefined) return again()
      let connection: PlainConnection | undefined
      let giveUpOpening = (): void => undefined
      let isOver = false
      let hasAnswered = false
      let hasBody = false
      let ending: () => void = () => undefined
      let leaveDraining: () => void = () => undefined
      const leaveRight = rights.begin(right, () => ending())
      if (typeof leaveRight !== "function") return again()
      const leaveVisit = visits.again(target, 200, actor)
      if (leaveVisit === undefined) {
        leaveRight()
        return again()
      }
      const release = (): void => {
        if (isOver) return
        isOver = true
        giveUpOpening()
        leaveRight()
        leaveVisit()
        leaveDraining()
        client.off("close", closed)
        leaveClient()
      }
      /** Leaves the request to another way, which has not been answered. */
      const leaveTo = (other: () => void): void => {
        release()
        other()
      }
      const closed = (): void => {
        connection?.destroy()
        release()
        // Without an answer, unless that has been counted
        info.counted?.end(undefined)
      }
      const { leave: leaveClient, wait } = waitingFor(client, () => connection)
      const cut = (): void => {
        connection?.destroy()
        release()
        client.destroy()
      }
      ending = () => {
        if (isOver) return
        if (hasAnswered) return cut()
        connection?.destroy()
        leaveTo(interrupted)
      }
      leaveDraining = draining.onBegin(() => ending())
      // The service ends already
      if (isOver) return
      client.on("close", closed)

      const broken = (error: Error, isStale = false): void => {
        connection = undefined
        if (isOver) return
        if (hasAnswered) cut()
        else if (isStale) leaveTo(again)
        else leaveTo(() => failed(error instanceof AppFailed ? error : failureOf(error)))
      }
      let last: Uint8Array | undefined
      const whenSent = givesBack(client)
      /** A host's middleware may have replaced methods of the response. */
      const sending = (send: () => void): void => {
        if (isOver) return
        try {
          send()
        } catch (error) {
          Runtime.runFork(runtime)(Effect.logError("an answer of an app could not be sent", error))
          cut()
        }
      }
      const sendOn = (opened: PlainConnection): void => {
        connection = opened
        opened.send(head, method === "HEAD", {
          head: (status, rawHeaders, isRepeated) =>
            sending(() => {
              hasAnswered = true
              info.counted?.end(status)
              writeHead(client, status, rawHeaders, isRepeated, admitted)
            }),
          // A client learns that its stream is open before there is anything to send; the head goes with bytes that are there at once
          bare: () => void setImmediate(() => void (connection === undefined || hasBody || sending(() => client.flushHeaders()))),
          data: (bytes, isLast) => {
            hasBody = true
            if (isLast) last = bytes
            else sending(() => void (client.write(bytes, whenSent(bytes)) || client.writableLength < maximumUnsent || wait()))
          },
          end: () => {
            connection = undefined
            if (!isOver) end(client, last)
          },
          fail: (message) => broken(new AppFailed({ message })),
          broken
        })
      }
      const kept = connections.take(admission.place)
      if (kept !== undefined) return sendOn(kept)
      const open = openingPlain({ idle, target, url }, { dialer, heartbeat, info, clock })
      giveUpOpening = connections.open({ agentId: target.agent_id, key: admission.place, open }, (opened) => {
        if (opened instanceof Error) broken(opened)
        else if (isOver) return false
        else sendOn(opened)
        return true
      })
    }

    return { mayPass: passableBy(queryOf), pass } satisfies Passing
  })
