/** The addresses that peers of the private network have. agents-and-apps.md §16. */
import type { Uuid } from "../platform/Uuid.js"
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

/** Whether an agent may announce a route: only to exactly one of its own addresses. */
export const mayAnnounce = (id: Uuid, cidr: string): boolean => {
  const [address = "", bits, ...rest] = cidr.split("/")
  const own = [...addressesOf(id), legacyAddress].map(canonical)
  const announced = canonical(address)
  return bits === "128" && rest.length === 0 && announced !== undefined && own.includes(announced)
}

/** Why an agent may not announce a node; undefined where it may. */
export const refuseAgentNode =
  (id: Uuid) =>
  ({ addresses, allowed_ips }: PeerNode): string | undefined => {
    const foreign = [...addresses, ...allowed_ips].find((cidr) => !mayAnnounce(id, cidr))
    return foreign === undefined ? undefined : `Addresses: invalid node address, got ${foreign.slice(0, 64)}`
  }

/** Why a client may not announce a node: it may have any single addresses. */
export const refuseClientNode = ({ addresses, allowed_ips }: PeerNode): string | undefined => {
  for (const cidr of [...addresses, ...allowed_ips]) {
    const [address = "", bits = "", ...rest] = cidr.split("/")
    if (canonical(address) === undefined || rest.length > 0) return `Addresses: invalid node address, got ${cidr.slice(0, 64)}`
    if (bits !== "128") return `invalid address bits, expected 128, got ${bits.slice(0, 8)}`
  }
  return undefined
}
