/** Addresses on the Internet, told from those of private networks. RFC 6890. */

/** An IPv4 address as a number. */
const numberOf = (address: string): number | undefined => {
  const octets = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address)?.slice(1).map(Number)
  return octets?.every((octet) => octet <= 255) === true ? octets.reduce((number, octet) => number * 256 + octet, 0) : undefined
}

/** Networks whose addresses are not public, or embed other addresses: the first address, and the length of the prefix. */
const reserved = (
  [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 3]
  ] as const
).map(([network, bits]) => [numberOf(network) ?? 0, bits] as const)

const isPublicV4 = (number: number): boolean =>
  reserved.every(([network, bits]) => Math.floor(number / 2 ** (32 - bits)) !== Math.floor(network / 2 ** (32 - bits)))

/**
 * Whether an IPv6 address, as URLs write it, is one of the Internet (2000::/3). Documentation (2001:db8::/32, 3fff::/20) is not, nor are
 * 2001::/23 and 6to4 (2002::/16), which carry IPv4 addresses.
 */
const isPublicV6 = (host: string): boolean => {
  const [first = "", second = ""] = host.split(":")
  const isGlobal = /^[23][0-9a-f]{3}$/.test(first)
  const isSpecial =
    first === "2002" || first === "3fff" || (first === "2001" && (second === "db8" || Number.parseInt(second || "0", 16) < 0x200))
  return isGlobal && !isSpecial
}

/** Whether an IP address is one of the Internet. A text that is no IP address is not. */
export const isPublicAddress = (address: string): boolean => {
  const number = numberOf(address)
  if (number !== undefined) return isPublicV4(number)
  const bracketed = `https://[${address}]`
  return /^[0-9a-f:.]+$/i.test(address) && URL.canParse(bracketed) && isPublicV6(new URL(bracketed).hostname.slice(1, -1))
}
