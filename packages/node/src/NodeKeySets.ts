/** Key sets that clients publish at addresses of their own (RFC 7517 §5). */
import { isPublicAddress } from "@atelier/core/platform"
import { Data, Duration, Effect } from "effect"
import { request } from "node:https"
import { isIP } from "node:net"
import { guardedLookup, type ResolveName } from "./guardedLookup.js"

/** Bytes of a key set. */
const maximumSize = 64 * 1024

/** How long the client's server may take. */
const timeout = Duration.seconds(5)

/** A key set that cannot be had. */
export class KeySetUnavailable extends Data.TaggedError("KeySetUnavailable")<{ readonly message: string }> {}

export interface KeySetOptions {
  /** Whether an IP address may be called; those of the Internet unless given. */
  readonly isAllowed?: (address: string) => boolean
  /** How names become addresses; the system's way unless given. */
  readonly resolve?: ResolveName
  /** Authorities that vouch for servers, in PEM; the system's unless given. */
  readonly ca?: string
}

const read = (url: URL, { ca, isAllowed = isPublicAddress, resolve: resolveName }: KeySetOptions, signal: AbortSignal): Promise<string> =>
  new Promise((done, fail) => {
    const host = url.hostname.replace(/^\[|\]$/g, "")
    // An address is not looked up
    if (isIP(host) !== 0 && !isAllowed(host)) return fail(new Error("the host is an address that may not be called"))
    const sent = request(
      url,
      {
        headers: { accept: "application/json" },
        lookup: guardedLookup(isAllowed, resolveName),
        agent: false,
        signal,
        ...(ca === undefined ? {} : { ca })
      },
      (response) => {
        const chunks: Array<Buffer> = []
        let size = 0
        response.on("error", fail)
        response.on("end", () =>
          response.statusCode === 200
            ? done(Buffer.concat(chunks).toString("utf8"))
            : fail(new Error(`the server answered ${response.statusCode}`))
        )
        response.on("data", (chunk: Buffer) => {
          size += chunk.length
          if (size > maximumSize) response.destroy(new Error("the key set is too large"))
          else chunks.push(chunk)
        })
      }
    )
    sent.on("error", fail)
    sent.end()
  })

/** Reads the text at an `https` address on the Internet, also after DNS. Follows no redirect, and keeps no connection. */
export const fetchKeySet = (uri: string, options: KeySetOptions = {}): Effect.Effect<string, KeySetUnavailable> =>
  Effect.gen(function* () {
    const url = URL.canParse(uri) ? new URL(uri) : undefined
    if (url?.protocol !== "https:") return yield* new KeySetUnavailable({ message: "the address is no https URL" })
    return yield* Effect.tryPromise({
      try: (signal) => read(url, options, signal),
      catch: (error) => new KeySetUnavailable({ message: error instanceof Error ? error.message : String(error) })
    }).pipe(Effect.timeoutFail({ duration: timeout, onTimeout: () => new KeySetUnavailable({ message: "the server takes too long" }) }))
  })
