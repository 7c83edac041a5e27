// Serves one file with node:http, and takes its bytes anew. `fork(plainFiles.mjs, [FILE])` sends the port.
import { createReadStream, createWriteStream } from "node:fs"
import { rename, stat } from "node:fs/promises"
import { createServer } from "node:http"
import { pipeline } from "node:stream/promises"

const [, , file] = process.argv

const send = async (response) => {
  response.setHeader("content-length", (await stat(file)).size)
  await pipeline(createReadStream(file), response)
}

const take = async (request, response) => {
  await pipeline(request, createWriteStream(`${file}.new`))
  await rename(`${file}.new`, file)
  response.end()
}

createServer((request, response) => {
  const answered = request.method === "GET" ? send(response) : take(request, response)
  // A client that has all bytes may close before the response has ended. It counts the bytes
  answered.catch(() => response.destroy())
}).listen(0, "127.0.0.1", function () {
  process.send({ port: this.address().port })
})
process.on("disconnect", () => process.exit())
