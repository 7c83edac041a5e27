/** The address of the client behind trusted proxies. deployment.md §3.2. */
import { Lru, StartError } from "@atelier/core/platform"
import { BlockList, isIP } from "node:net"

export interface TrustedProxies {
  readonly origins: ReadonlyArray<string>
  readonly headers: ReadonlyArray<string>
}

/** Headers by which proxies say whom they act for. */
export const forwardingHeaders: ReadonlySet<string> = new Set([
  "cf-connecting-ip",
  "forwarded",
  "true-client-ip",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip"
])

/** Addresses whose trust is kept: looking one up in the networks takes longer than most of what a request needs. */
const keptAddresses = 1024

/** Whether an address is in one of the networks. Throws where an origin is not a network. */
const membership = (origins: ReadonlyArray<string>): ((address: string) => boolean) => {
  const trusted = new BlockList()
  for (const origin of origins) addNetwork(trusted, origin)
  if (origins.length === 0) return () => false
  const known = Lru.make<string, boolean>(keptAddresses)
  return (address) => {
    const kept = known.get(address)
    if (kept !== undefined) return kept
    const isTrusted = trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")
    known.set(address, isTrusted)
    return isTrusted
  }
}

/** Answers the client's address from the peer's and the request's headers. Throws where an origin is not a network. */
export const clientAddressOf = ({ headers, origins }: TrustedProxies) => {
  const isTrusted = membership(origins)
  const names = headers.map((name) => name.toLowerCase())

  return (peer: string, requestHeaders: Readonly<Record<string, string | undefined>>): string => {
    const client = bare(peer)
    if (origins.length === 0 || isIP(client) === 0 || !isTrusted(client)) return client
    for (const name of names) {
      const value = requestHeaders[name]
      if (value === undefined) continue
      const hops = value
        .split(",")
        .map(bare)
        .filter((hop) => isIP(hop) !== 0)
      const named = hops.findLast((hop) => !isTrusted(hop)) ?? hops[0]
      if (named !== undefined) return named
    }
    return client
  }
}

/** Whether the peer may say which host and scheme the client used. */
export const trusts = ({ origins }: Pick<TrustedProxies, "origins">) => {
  const isTrusted = membership(origins)
  return (peer: string): boolean => {
    if (origins.length === 0) return false
    const address = bare(peer)
    return isIP(address) !== 0 && isTrusted(address)
  }
}

const addNetwork = (list: BlockList, network: string): void => {
  const [address = "", bits = ""] = network.split("/")
  const family = isIP(address)
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) : -1
  if (family === 0 || prefix < 0 || prefix > (family === 6 ? 128 : 32)) {
    throw new StartError({ option: "trustedProxies.origins", value: network, reason: "must be a network in CIDR notation" })
  }
  list.addSubnet(address, prefix, family === 6 ? "ipv6" : "ipv4")
}

/** An address without port, brackets, zone and the IPv4-mapped form. */
const bare = (text: string): string => {
  if (/^[\d.]+$/.test(text)) return text
  const trimmed = text.trim()
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1]
  const address = bracketed ?? (/^\d+\.\d+\.\d+\.\d+:\d+$/.test(trimmed) ? trimmed.slice(0, trimmed.indexOf(":")) : trimmed)
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address.split("%")[0] ?? address
}
