/** The addresses that peers of the private network have. agents-and-apps.md §16. */
import type { Uuid } from "../platform/texts/Uuid.js"
import type { PeerNode } from "./Coordination.js"

/** Both prefixes under which an agent is reached: the first 6 of the 16 bytes of its address. */
const prefixes = ["fd7a115ca1e0", "fd60627aa42b"] as const

/** The address all agents had before each got its own. */
const legacyAddress = "fd7a:115c:a1e0:49d6:b259:b7ac:b1b2:48f4"

/** The 8 groups of an IPv6 address in lower case without leading zeros; undefined if the text is not an address. */
const groupsOf = (address: string): ReadonlyArray<string> | undefined => {
  const halves = address.toLowerCase().split("::")
  if (halves.length > 2) return undefined
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")))
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail]
  return groups.every((group) => /^[0-9a-f]{1,4}$/.test(group)) ? groups.map((group) => Number.parseInt(group, 16).toString(16)) : undefined
}

const canonical = (address: string): string | undefined => groupsOf(address)?.join(":")

/** The addresses an agent has: its id, behind each prefix. */
export const addressesOf = (id: Uuid): ReadonlyArray<string> => {
  const digits = id.replaceAll("-", "")
  return prefixes.map((prefix) => (prefix + digits.slice(prefix.length)).match(/.{4}/g)?.join(":") ?? "")
}

/** Why a peer may not announce a node all of whose addresses have to be single ones that `isAllowed`; undefined where it may. */
const refuseNode = ({ addresses, allowed_ips }: PeerNode, isAllowed: (address: string) => boolean): string | undefined => {
  for (const cidr of [...addresses, ...allowed_ips]) {
    const [address = "", bits = "", ...rest] = cidr.split("/")
    const announced = canonical(address)
    if (announced === undefined || rest.length > 0 || !isAllowed(announced)) {
      return `Addresses: invalid node address, got ${address.slice(0, 64)}`
    }
    if (bits !== "128") return `invalid address bits, expected 128, got ${bits.slice(0, 8)}`
  }
  return undefined
}

/** Why an agent may not announce a node: it has its own addresses. */
export const refuseAgentNode =
  (id: Uuid) =>
  (node: PeerNode): string | undefined => {
    // Few agents announce a node, and each connection would keep the addresses
    const own = new Set([...addressesOf(id), legacyAddress].map(canonical))
    return refuseNode(node, (address) => own.has(address))
  }

/** Why a client may not announce a node: it may have any single addresses. */
export const refuseClientNode = (node: PeerNode): string | undefined => refuseNode(node, () => true)
