import { expect, it } from "vitest"
import { listenersIn } from "../../src/streams/ListeningPorts.js"

it("finds the listening sockets of a table by the number of their file", () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F91 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000000000000000 20 4 30 10 -1
   2: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1
`
  expect(listenersIn(table)).toStrictEqual([
    { socket: "4711", address: "0100007F", port: 8080 },
    { socket: "4713", address: "00000000000000000000000001000000", port: 80 }
  ])
})
