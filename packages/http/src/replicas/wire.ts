/** What both sides of a connection between two processes know. */

/** Where a process takes the streams of others to one of its agents, below its own address. */
export const streamsPath = "/internal/replicas/streams"

/** Where a process takes packets for the clients of its relay, and tells which there are. */
export const relayPath = "/internal/replicas/relay"

/** The first byte of a message that names clients, whose keys follow it: they have come, or gone. */
export const Presence = { here: 1, gone: 2 } as const

/** Keys that one message names at most. */
export const keysPerMessage = 10_000

/** The header of the answer that proves who answers. */
export const answerHeader = "x-replica-answer"

/** Bytes of a message. */
export const maximumMessage = 1024 * 1024
