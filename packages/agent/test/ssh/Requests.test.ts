import { expect, it } from "vitest"
import { makeRequests } from "../../src/ssh/sftp/Requests.js"
import { Reader, Status, string, Type } from "../../src/ssh/sftp/Wire.js"

it.each(["none@example.com", "constructor", "toString"])("the extension %s is not supported", async (extension) => {
  const { serve } = makeRequests({ home: "/", directory: "/" })
  const answer = await serve(Type.extended, Buffer.from([0, 0, 0, 7]), new Reader(string(extension)))
  expect([answer.readUInt8(4), answer.readUInt32BE(5), answer.readUInt32BE(9)]).toStrictEqual([Type.status, 7, Status.unsupported])
})
