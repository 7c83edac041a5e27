/** Terraform's functions on networks of both versions of the Internet Protocol. */
import { isIPv4, isIPv6 } from "node:net"
import { refuse } from "../EvaluationError.js"
import { toNumber, toText, type Value } from "../Values.js"

interface Network {
  readonly address: bigint
  readonly bits: 32 | 128
  readonly prefix: number
}

const parseIPv6 = (text: string): bigint => {
  const [head = "", tail] = text
    .replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a: string, b: string, c: string, d: string) =>
      [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((part) => part.toString(16)).join(":")
    )
    .split("::")
  const groups = (part: string): ReadonlyArray<string> => (part === "" ? [] : part.split(":"))
  const [before, after] = [groups(head), groups(tail ?? "")]
  const middle = Array.from({ length: 8 - before.length - after.length }, () => "0")
  return [...before, ...middle, ...after].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

const parseNetwork = (text: string): Network => {
  const [address = "", length = ""] = text.split("/")
  const bits = isIPv4(address)
    ? 32
    : isIPv6(address) && !address.includes("%")
      ? 128
      : refuse(`${JSON.stringify(text.slice(0, 100))} is no network`)
  const prefix = /^\d{1,3}$/.test(length) ? Number(length) : -1
  if (prefix < 0 || prefix > bits) return refuse(`${JSON.stringify(text.slice(0, 100))} is no network`)
  const value = bits === 32 ? address.split(".").reduce((sum, part) => (sum << 8n) | BigInt(part), 0n) : parseIPv6(address)
  return { address: (value >> BigInt(bits - prefix)) << BigInt(bits - prefix), bits, prefix }
}

const addressText = (address: bigint, bits: 32 | 128): string => {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 255n)).join(".")
  const groups = Array.from({ length: 8 }, (_, index) => ((address >> BigInt(112 - index * 16)) & 0xffffn).toString(16))
  const runs = [...groups.join(":").matchAll(/(?<![0-9a-f])0(?::0)+(?![0-9a-f])/g)].toSorted((a, b) => b[0].length - a[0].length)
  const [longest] = runs
  const text = groups.join(":")
  if (longest === undefined) return text
  return `${text.slice(0, longest.index).replace(/:$/, "")}::${text.slice(longest.index + longest[0].length).replace(/^:/, "")}`
}

const whole = (value: Value | undefined): bigint => {
  const number = toNumber(value ?? null)
  return Number.isInteger(number) ? BigInt(number) : refuse("a whole number is required")
}

const networkAt = (given: ReadonlyArray<Value>): Network => parseNetwork(toText(given[0] ?? null))

const subnet = ({ address, bits, prefix }: Network, more: bigint, number: bigint): Network => {
  const longer = prefix + Number(more)
  if (more < 0n || longer > bits) return refuse("the network is too small for such subnets")
  if (number < 0n || number >= 1n << more) return refuse("the network has no subnet of this number")
  return { address: address | (number << BigInt(bits - longer)), bits, prefix: longer }
}

const networkText = ({ address, bits, prefix }: Network): string => `${addressText(address, bits)}/${prefix}`

const host = (given: ReadonlyArray<Value>): string => {
  const { address, bits, prefix } = networkAt(given)
  const number = whole(given[1])
  const count = 1n << BigInt(bits - prefix)
  const index = number < 0n ? count + number : number
  return index < 0n || index >= count ? refuse("the network has no host of this number") : addressText(address + index, bits)
}

const mask = (given: ReadonlyArray<Value>): string => {
  const { bits, prefix } = networkAt(given)
  if (bits === 128) return refuse("networks of IPv6 have no mask")
  return addressText(((1n << BigInt(prefix)) - 1n) << BigInt(bits - prefix), bits)
}

const subnets = (given: ReadonlyArray<Value>): ReadonlyArray<string> => {
  const network = networkAt(given)
  const end = network.address + (1n << BigInt(network.bits - network.prefix))
  let next = network.address
  return given.slice(1).map((value) => {
    const more = whole(value)
    const prefix = network.prefix + Number(more)
    if (more < 1n || prefix > network.bits) return refuse("the network is too small for such subnets")
    const size = 1n << BigInt(network.bits - prefix)
    const address = ((next + size - 1n) / size) * size
    if (address + size > end) return refuse("the network is too small for so many subnets")
    next = address + size
    return networkText({ address, bits: network.bits, prefix })
  })
}

export const networkFunctions = {
  cidrhost: host,
  cidrnetmask: mask,
  cidrsubnet: (given: ReadonlyArray<Value>): string => networkText(subnet(networkAt(given), whole(given[1]), whole(given[2]))),
  cidrsubnets: subnets
}
