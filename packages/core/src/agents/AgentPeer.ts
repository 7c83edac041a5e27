/** The requests that an agent may send to the coordinator, which introduces peers to each other. agents-and-apps.md §16. */
import type { Uuid } from "../platform/Uuid.js"

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

/** The requests in one message of a peer, in the order of handling. */
export interface PeerRequest {
  /** Addresses and routes of the node it announces; absent when it announces none. */
  readonly announced?: ReadonlyArray<string> | undefined
  readonly addsTunnel: boolean
  readonly disconnects: boolean
  /** Peers it says it is ready for. */
  readonly readyFor: ReadonlyArray<string>
}

/** The answer to an agent: each error in a response of its own. */
export interface PeerAnswer {
  readonly errors: ReadonlyArray<string>
  /** Whether the agent's part in the coordination is over. */
  readonly ends: boolean
}

/**
 * Answers a message of an agent that no peer has a tunnel to: the agent may announce itself, and is told that no peer waits. Clients match
 * the beginning of that error.
 */
export const answerAgent = (id: Uuid, request: PeerRequest): PeerAnswer => {
  const foreign = request.announced?.find((cidr) => !mayAnnounce(id, cidr))
  if (foreign !== undefined) return { errors: [`authorization error: an agent may not announce ${foreign}`], ends: true }
  if (request.addsTunnel) return { errors: ["authorization error: an agent may not add tunnels"], ends: true }
  if (request.disconnects) return { errors: [], ends: true }
  return { errors: request.readyFor.map((peer) => `ready for handshake error: no tunnel with ${peer}`), ends: false }
}
