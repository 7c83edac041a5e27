/** What both sides of a stream between two processes know. */
import { AgentUnreachable } from "@atelier/core/network"
import type { Connection } from "../sockets/Connection.js"
import type { Terms } from "../sockets/socketStream.js"

/** Where a process takes streams from others, below its own address. */
export const streamsPath = "/internal/replicas/streams"

/** Where a process takes packets for the clients of its relay, and tells which there are. */
export const relayPath = "/internal/replicas/relay"

/** The first byte of a message that names clients, whose keys follow it: they have come, or gone. */
export const Presence = { here: 1, gone: 2 } as const

/** Keys that one message names at most. */
export const keysPerMessage = 10_000

/** The header of the answer that proves who answers. */
export const answerHeader = "x-replica-answer"

/** The header with the id of the request that a stream is opened for. */
export const requestHeader = "x-replica-request"

/** The text message that stands for the end of a stream: nothing more is written in its direction. */
export const ended = "end"

const silent = new AgentUnreachable({ message: "The other process of the service takes too long to receive." })

/** How streams between two processes end, and for how long they wait. */
export const termsOf = ({ tell }: Pick<Connection, "tell">): Terms => ({ finish: () => tell(ended), onText: () => null, silent })

/** Bytes of a message. */
export const maximumMessage = 1024 * 1024
