/** The address of the client behind trusted proxies. deployment.md §3.2. */
import { StartError } from "@atelier/core/platform"
import { BlockList, isIP } from "node:net"

export interface TrustedProxies {
  readonly origins: ReadonlyArray<string>
  readonly headers: ReadonlyArray<string>
}

/** Answers the client's address from the peer's and the request's headers. Throws where an origin is not a network. */
export const clientAddressOf = ({ headers, origins }: TrustedProxies) => {
  const trusted = new BlockList()
  for (const origin of origins) addNetwork(trusted, origin)
  const names = headers.map((name) => name.toLowerCase())
  const isTrusted = (address: string): boolean => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")

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
  const trusted = new BlockList()
  for (const origin of origins) addNetwork(trusted, origin)
  return (peer: string): boolean => {
    const address = bare(peer)
    return isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")
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
