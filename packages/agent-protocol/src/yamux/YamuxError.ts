import { Data } from "effect"

/**
 * Why a session is over:
 * - `closed`: closed here, or the peer closed the connection or said a normal GoAway
 * - `connection`: the connection broke
 * - `protocol`: the peer broke the protocol
 * - `peer`: the peer said GoAway because of an error
 * - `timeout`: the peer neither answers pings nor reads
 */
export type EndReason = "closed" | "connection" | "protocol" | "peer" | "timeout"

/** The session is over, and with it every stream. */
export class SessionEnded extends Data.TaggedError("SessionEnded")<{ readonly reason: EndReason; readonly message: string }> {}

/** One stream was broken off; the session lives on. `by` tells which side did it. */
export class StreamReset extends Data.TaggedError("StreamReset")<{ readonly by: "here" | "peer"; readonly message: string }> {}

export type StreamError = SessionEnded | StreamReset

/** A ping was not answered in time. */
export class PingTimeout extends Data.TaggedError("PingTimeout")<{ readonly message: string }> {}
