/** Clouds that sign for their instances, with keys and certificates of the test. */
import * as x509 from "@peculiar/x509"
import { ObjectIdentifier } from "asn1js"
import { createHash, createSign, generateKeyPairSync, KeyObject, randomInt, sign } from "node:crypto"

/** A key of Amazon, and the documents that it signs. */
export const anAwsKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 })
  return {
    publicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64"),
    sign: (document: string): string => createSign("RSA-SHA256").update(document).sign(privateKey, "base64")
  }
}

/** A key of 2,048 bits takes five times as long to make, and nothing here depends on the length. */
const rsa = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 1024 }

/** A certificate with its key. */
export interface Authority {
  readonly certificate: x509.X509Certificate
  readonly keys: CryptoKeyPair
}

interface CertificateFields {
  readonly isAuthority?: boolean
  readonly issuersAt?: string
  readonly notAfter?: Date
}

/** A certificate that an authority has issued, or its own. */
export const aCertificate = async (name: string, issuer?: Authority, fields: CertificateFields = {}): Promise<Authority> => {
  const keys = await crypto.subtle.generateKey(rsa, true, ["sign", "verify"])
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: randomInt(0x1000_0000, 0x7000_0000).toString(16),
      subject: `CN=${name}`,
      issuer: issuer?.certificate.subject ?? `CN=${name}`,
      notBefore: new Date(Date.now() - 3_600_000),
      notAfter: fields.notAfter ?? new Date(Date.now() + 3_600_000),
      publicKey: keys.publicKey,
      signingKey: (issuer?.keys ?? keys).privateKey,
      signingAlgorithm: rsa,
      extensions: [
        new x509.BasicConstraintsExtension(fields.isAuthority ?? false, undefined, true),
        ...(fields.issuersAt === undefined ? [] : [new x509.AuthorityInfoAccessExtension({ caIssuers: fields.issuersAt })])
      ]
    },
    crypto
  )
  return { certificate, keys }
}

/** A value of DER with its tag and length. */
const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const body = Buffer.concat(parts)
  const size = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

const oid = (value: string): Buffer => Buffer.from(new ObjectIdentifier({ value }).toBER())

const sequence = (...parts: ReadonlyArray<Uint8Array>): Buffer => der(0x30, ...parts)

const data = oid("1.2.840.113549.1.7.1")
const sha256 = sequence(oid("2.16.840.1.101.3.4.2.1"))

/** The number and the issuer by which a message names its signer's certificate. */
const signerId = ({ certificate }: Authority): Buffer => {
  const issuer = Buffer.from(new x509.Name(certificate.issuer).toArrayBuffer())
  return sequence(issuer, der(0x02, Buffer.from(certificate.serialNumber, "hex")))
}

export interface MessageFields {
  readonly certificates?: ReadonlyArray<Authority>
  readonly hasAttributes?: boolean
  readonly signers?: number
  /** What the signature is of, in place of the content. */
  readonly signed?: string
}

/** A signed message of PKCS #7 in Base64. */
export const aSignedMessage = (content: string, signer: Authority, fields: MessageFields = {}): string => {
  const { certificates = [signer], hasAttributes = true, signed = content, signers = 1 } = fields
  const digest = createHash("sha256").update(signed).digest()
  const attributes = Buffer.concat([
    sequence(oid("1.2.840.113549.1.9.3"), der(0x31, data)),
    sequence(oid("1.2.840.113549.1.9.4"), der(0x31, der(0x04, digest)))
  ])
  const bytes = hasAttributes ? der(0x31, attributes) : Buffer.from(signed)
  const signature = sign("sha256", bytes, KeyObject.from(signer.keys.privateKey))
  const one = sequence(
    der(0x02, Buffer.from([1])),
    signerId(signer),
    sha256,
    ...(hasAttributes ? [der(0xa0, attributes)] : []),
    sequence(oid("1.2.840.113549.1.1.1"), der(0x05)),
    der(0x04, signature)
  )
  const message = sequence(
    der(0x02, Buffer.from([1])),
    der(0x31, sha256),
    sequence(data, der(0xa0, der(0x04, Buffer.from(content)))),
    der(0xa0, ...certificates.map(({ certificate }) => Buffer.from(certificate.rawData))),
    der(0x31, ...Array.from({ length: signers }, () => one))
  )
  return sequence(oid("1.2.840.113549.1.7.2"), der(0xa0, message)).toString("base64")
}
