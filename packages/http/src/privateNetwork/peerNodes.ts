/** Nodes: what members of the private network tell each other through the coordinator. agents-and-apps.md §17. */
import { Relay, TailnetMessages, Timestamp } from "@atelier/agent-protocol"
import type { Coordination } from "@atelier/core/network"
import { randomBytes } from "@atelier/node"
import { Either } from "effect"
import { nodeCiphers } from "./nodeCiphers.js"

/** The first 6 of the 16 bytes of an address. */
const prefix = Uint8Array.of(0xfd, 0x7a, 0x11, 0x5c, 0xa1, 0xe0)

/** What precedes a WireGuard key in a node. */
const keyMark = Buffer.from("np")

const groupsOf = (address: Uint8Array): string => (Buffer.from(address).toString("hex").match(/.{4}/g) ?? []).join(":")

/** The 16 bytes of an address that is written in full. */
export const addressOf = (text: string): Uint8Array => Buffer.from(text.replaceAll(":", ""), "hex")

/** A new address of the private network. */
export const anAddress = (): Uint8Array => Buffer.concat([prefix, randomBytes(10)])

/** The key in a node that an agent has told; undefined if it is missing, broken, or the server's own. */
export const keyIn = ({ content }: Coordination.PeerNode, own: Uint8Array): Uint8Array | undefined => {
  const node = Either.getOrUndefined(TailnetMessages.Node.decode(content))
  if (node?.key.length !== keyMark.length + Relay.RelayFrame.keyLength || !keyMark.equals(node.key.subarray(0, keyMark.length)))
    return undefined
  const key = node.key.slice(keyMark.length)
  return Buffer.from(own).equals(key) ? undefined : key
}

/** The node of the server's end of a tunnel. `at` is milliseconds since 1970. */
export const ownNode = (own: Relay.Box.KeyPair, address: Uint8Array, relayRegion: number, at: number): Coordination.PeerNode => {
  const addresses = [`${groupsOf(address)}/128`]
  const content = TailnetMessages.Node.encode({
    id: Buffer.from(randomBytes(8)).readBigInt64LE() & (2n ** 63n - 1n),
    as_of: Timestamp.fromMillis(at),
    key: Buffer.concat([keyMark, own.publicKey]),
    // The server answers no search for direct ways: all packets go through the relay
    disco: `discokey:${Buffer.from(nodeCiphers.keyPair().publicKey).toString("hex")}`,
    preferred_derp: relayRegion,
    derp_latency: new Map([[`${relayRegion}-v4`, 0.001]]),
    addresses,
    allowed_ips: addresses
  })
  return { addresses, allowed_ips: addresses, content: Either.getOrThrow(content) }
}
