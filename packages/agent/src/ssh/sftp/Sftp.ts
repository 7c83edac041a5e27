/** SFTP on a channel. Requests are served one after the other, as OpenSSH's server does: a write is seen by what follows it. */
import type { Login } from "../Host.js"
import type { Output } from "../Output.js"
import { extensions, makeRequests, type Requests, status } from "./Requests.js"
import { Malformed, packet, Packets, Reader, Status, string, Type, uint32 } from "./Wire.js"

const version = 3

/** Statuses by the system's names of errors, as OpenSSH has them. */
const statuses: Readonly<Record<string, number>> = {
  ENOENT: Status.noSuchFile,
  ENOTDIR: Status.noSuchFile,
  EBADF: Status.noSuchFile,
  ELOOP: Status.noSuchFile,
  EPERM: Status.permissionDenied,
  EACCES: Status.permissionDenied,
  EFAULT: Status.permissionDenied,
  ENAMETOOLONG: Status.badMessage,
  EINVAL: Status.badMessage,
  ENOSYS: Status.unsupported
}

const refusal = (id: Buffer, cause: unknown): Buffer => {
  if (cause instanceof Malformed) return status(id, Status.badMessage, cause.message)
  if (!(cause instanceof Error)) return status(id, Status.failure, String(cause))
  const code = "code" in cause ? String(cause.code) : ""
  return status(id, statuses[code] ?? Status.failure, cause.message.slice(0, 500))
}

const answerTo = async (requests: Requests, bytes: Buffer): Promise<Buffer> => {
  const type = bytes.readUInt8(0)
  if (type === Type.init) return packet(Type.version, uint32(version), ...extensions.flat().map(string))
  if (bytes.length < 5) throw new Malformed("a request has no number")
  const id = bytes.subarray(1, 5)
  try {
    return await requests.serve(type, id, new Reader(bytes.subarray(5)))
  } catch (cause) {
    return refusal(id, cause)
  }
}

/** Serves a channel until the client ends it. */
export const serveSftp = async (output: Output, login: () => Promise<Login>): Promise<void> => {
  const requests = makeRequests(await login())
  const packets = new Packets()
  try {
    // The channel stays open after the client's last request, for the status
    for await (const chunk of output.channel.iterator({ destroyOnReturn: false })) {
      packets.add(chunk)
      for (let bytes = packets.next(); bytes !== undefined; bytes = packets.next()) {
        output.write(await answerTo(requests, bytes))
        await output.room
      }
    }
    output.finish(0)
  } catch (cause) {
    output.writeError(Buffer.from(`SFTP: ${cause instanceof Error ? cause.message : String(cause)}\n`))
    output.finish(1)
  } finally {
    await requests.end()
  }
}
