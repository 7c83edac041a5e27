import { lookup, type LookupAddress, type LookupAllOptions } from "node:dns"
import type { LookupFunction } from "node:net"

/** Finds all addresses of a name. */
export type ResolveName = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: Array<LookupAddress>) => void
) => void

/** Resolves names, and refuses those that have an address that may not be called: the connection then goes to an address that was checked. */
export const guardedLookup =
  (isAllowed: (address: string) => boolean, resolveName: ResolveName = lookup): LookupFunction =>
  (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error !== null) callback(error, "", 0)
      else if (first === undefined || !addresses.every(({ address }) => isAllowed(address)))
        callback(new Error("the host has an address that may not be called"), "", 0)
      else if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
