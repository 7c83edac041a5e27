import { describe, expect, it } from "@effect/vitest"
import { isHidden } from "../src/WebSocketTransport.js"

describe("frames to the server", () => {
  it.each([
    ["wss://dev.example.com/rpc", true],
    ["ws://127.0.0.1:3000/rpc", true],
    ["ws://localhost:3000/rpc", true],
    ["ws://dev.localhost:3000/rpc", true],
    ["ws://[::1]:3000/rpc", true],
    ["ws://dev.example.com/rpc", false],
    ["ws://10.0.0.1/rpc", false],
    ["ws://127.example.com/rpc", false],
    ["ws://localhost.example.com/rpc", false]
  ])("of %s are seen by no proxy: %s", (url, expected) => expect(isHidden(new URL(url))).toBe(expected))
})
