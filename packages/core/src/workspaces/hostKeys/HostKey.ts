import { Either, Encoding, Schema } from "effect"

/** The public half of the key by which SSH clients know a workspace. */
export const WorkspaceHostKey = Schema.Struct({
  /** The type and the key, separated by a space, as they follow the names of hosts in a `known_hosts` file. */
  public_key: Schema.String
}).annotations({ identifier: "WorkspaceHostKey" })
export interface WorkspaceHostKey extends Schema.Schema.Type<typeof WorkspaceHostKey> {}

/** Bytes of the name and the zero with which a key in OpenSSH's form begins. */
const magicSize = "openssh-key-v1\0".length

/**
 * Returns the public half of a private key in OpenSSH's form. Before it are three texts about the encryption, each after its length, and the number of
 * keys. OpenSSH's PROTOCOL.key.
 */
export const publicKeyOf = (privateKey: string): string => {
  const bytes = Either.getOrThrow(Encoding.decodeBase64(privateKey.replaceAll(/-----[^\n]*-----|\s/g, "")))
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const textAt = (at: number): Uint8Array => bytes.subarray(at + 4, at + 4 + view.getUint32(at))
  const after = (at: number): number => at + 4 + view.getUint32(at)
  const key = textAt(after(after(after(magicSize))) + 4)
  const type = key.subarray(4, 4 + new DataView(key.buffer, key.byteOffset).getUint32(0))
  return `${new TextDecoder().decode(type)} ${Encoding.encodeBase64(key)}`
}
