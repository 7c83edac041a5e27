import { reasonOf } from "@atelier/core/platform"

/** Why an address cannot be listened on, and what to do about it. */
export const listenFault = (error: unknown): string =>
  error instanceof Error && "code" in error && error.code === "EADDRINUSE"
    ? "another program listens there: end it, or give another address"
    : reasonOf(error)
