/** Signed messages of PKCS #7 (RFC 5652 §5) with one signer. */
import * as asn1 from "asn1js"
import { createHash, X509Certificate, verify } from "node:crypto"

/** What a message says, and the certificates that came with it. */
export interface SignedMessage {
  readonly content: Buffer
  /** The certificate whose key has signed the content. */
  readonly signer: X509Certificate
  readonly others: ReadonlyArray<X509Certificate>
}

const oids = {
  data: "1.2.840.113549.1.7.1",
  signedData: "1.2.840.113549.1.7.2",
  contentType: "1.2.840.113549.1.9.3",
  messageDigest: "1.2.840.113549.1.9.4"
} as const

const digests: Readonly<Record<string, string>> = {
  "2.16.840.1.101.3.4.2.1": "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512"
}

/** The kind of key of each signature algorithm: RSA with PKCS #1 v1.5, and ECDSA. Those that name a digest must name that of the signer. */
const signatures: Readonly<Record<string, { readonly key: "rsa" | "ec"; readonly digest?: string }>> = {
  "1.2.840.113549.1.1.1": { key: "rsa" },
  "1.2.840.113549.1.1.11": { key: "rsa", digest: "sha256" },
  "1.2.840.113549.1.1.12": { key: "rsa", digest: "sha384" },
  "1.2.840.113549.1.1.13": { key: "rsa", digest: "sha512" },
  "1.2.840.10045.4.3.2": { key: "ec", digest: "sha256" },
  "1.2.840.10045.4.3.3": { key: "ec", digest: "sha384" },
  "1.2.840.10045.4.3.4": { key: "ec", digest: "sha512" }
}

/** Fails the reading of a message. */
const malformed = (what: string): never => {
  throw new TypeError(`the message is malformed: ${what}`)
}

const constructed = (block: unknown): ReadonlyArray<asn1.BaseBlock> =>
  block instanceof asn1.Constructed || block instanceof asn1.Sequence || block instanceof asn1.Set
    ? block.valueBlock.value
    : malformed("list")

const oidOf = (block: unknown): string => (block instanceof asn1.ObjectIdentifier ? block.valueBlock.toString() : malformed("identifier"))

const octetsOf = (block: unknown): Buffer => (block instanceof asn1.OctetString ? Buffer.from(block.getValue()) : malformed("octets"))

/** The algorithm that an AlgorithmIdentifier names. */
const algorithmOf = (block: unknown): string => oidOf(constructed(block)[0])

/** The bytes of a part as they came. */
const bytesOf = (block: asn1.BaseBlock | undefined): Buffer =>
  block === undefined ? malformed("part") : Buffer.from(block.valueBeforeDecodeView)

const isContext = (block: asn1.BaseBlock | undefined, tag: number): boolean =>
  block !== undefined && block.idBlock.tagClass === 3 && block.idBlock.tagNumber === tag

/** The number of a certificate in the form of Node's X.509: hexadecimal without leading zeros. */
const serialOf = (block: unknown): string =>
  block instanceof asn1.Integer
    ? Buffer.from(block.valueBlock.valueHexView)
        .toString("hex")
        .toUpperCase()
        .replace(/^0+(?=.)/, "")
    : malformed("serial number")

/** The value of an attribute that has to be there once. */
const attribute = (attributes: ReadonlyArray<asn1.BaseBlock>, oid: string): unknown => {
  const found = attributes.map(constructed).filter(([type]) => oidOf(type) === oid)
  const values = found.length === 1 ? constructed(found[0]?.[1]) : malformed("attributes")
  return values.length === 1 ? values[0] : malformed("attributes")
}

/** The bytes that a signer has signed: the content, or the attributes that have its digest. */
const signedBytes = (attributes: asn1.BaseBlock | undefined, content: Buffer, type: string, digest: string): Buffer => {
  if (attributes === undefined) return type === oids.data ? content : malformed("attributes are missing")
  const list = constructed(attributes)
  if (oidOf(attribute(list, oids.contentType)) !== type) malformed("type of the content")
  if (!octetsOf(attribute(list, oids.messageDigest)).equals(createHash(digest).update(content).digest())) malformed("digest of the content")
  const bytes = bytesOf(attributes)
  // They are signed as the set that they stand for (RFC 5652 §5.4)
  bytes[0] = 0x31
  return bytes
}

/** Reads a message whose signature is right. Throws for any other. It does not judge the signer. */
export const readSignedMessage = (message: Buffer): SignedMessage => {
  const { offset, result } = asn1.fromBER(message)
  if (offset < 0) malformed("encoding")
  const [outerType, outer] = constructed(result)
  if (oidOf(outerType) !== oids.signedData) malformed("type")
  const [, , encapsulated, ...rest] = constructed(constructed(outer)[0])
  const [type, wrapped] = constructed(encapsulated)
  const content = octetsOf(constructed(wrapped)[0])
  const set = rest.find((block) => isContext(block, 0))
  const certificates = (set === undefined ? [] : constructed(set)).map((block) => new X509Certificate(bytesOf(block)))
  const signers = constructed(rest.at(-1))
  if (signers.length !== 1) malformed("there is not one signer")
  const [, id, digestAlgorithm, ...last] = constructed(signers[0])
  const attributes = isContext(last[0], 0) ? last[0] : undefined
  const [signatureAlgorithm, signature] = attributes === undefined ? last : last.slice(1)
  const serial = serialOf(constructed(id)[1])
  const signer = certificates.find(({ serialNumber }) => serialNumber.replace(/^0+(?=.)/, "") === serial)
  if (signer === undefined) return malformed("the certificate of the signer is missing")
  const digest = digests[algorithmOf(digestAlgorithm)] ?? malformed("digest algorithm")
  const algorithm = signatures[algorithmOf(signatureAlgorithm)] ?? malformed("signature algorithm")
  if ((algorithm.digest ?? digest) !== digest || signer.publicKey.asymmetricKeyType !== algorithm.key) malformed("signature algorithm")
  const bytes = signedBytes(attributes, content, oidOf(type), digest)
  if (!verify(digest, bytes, signer.publicKey, octetsOf(signature))) malformed("signature")
  return { content, signer, others: certificates.filter((certificate) => certificate !== signer) }
}
