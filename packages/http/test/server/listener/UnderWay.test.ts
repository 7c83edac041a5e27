import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { Duplex } from "node:stream"
import { describe, expect, it } from "vitest"
import * as UnderWay from "../../../src/server/listener/UnderWay.js"

describe("a response that is over", () => {
  it("leaves nothing at a socket that its host made up and never closes", () => {
    const underWay = UnderWay.make()
    const socket = new Duplex()
    const own = socket.listenerCount("close")
    let closed = 0
    const responses = [1, 2].map(() => new ServerResponse(new IncomingMessage(new Socket())))
    for (const response of responses) underWay.add(socket, response, false, () => void closed++)
    responses[0]?.emit("close")
    const left: Array<unknown> = []
    underWay.forEach((response) => void left.push(response))
    expect(left).toStrictEqual([responses[1]])
    responses[1]?.emit("close")
    expect(socket.listenerCount("close")).toBe(own)
    expect(closed).toBe(2)
  })

  it("finishes with its connection, also for a host that made it and listens later", () => {
    const response = new ServerResponse(new IncomingMessage(new Socket()))
    UnderWay.make().add(new Duplex(), response, false, () => undefined)
    let finished = 0
    response.once("finish", () => void finished++)
    response.end("unsent")
    response.emit("close")
    expect(finished).toBe(1)
  })
})
