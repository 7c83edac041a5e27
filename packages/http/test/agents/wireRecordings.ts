/**
 * What the reference and its clients said to each other on sockets, restated: `{workspace}`, `{agent}` and `{build}` stand for ids, and
 * a member whose value is `"…"` may have any value. wire.md §5.
 */

/** How a socket ends. */
export interface Close {
  readonly code: number
  readonly reason: string
}

export interface OneWayRecording {
  readonly name: string
  readonly path: string
  /** The agent's script has written a line before the socket opens. */
  readonly logged?: true
  /** The first messages, without those after them. */
  readonly first: ReadonlyArray<unknown>
  /** How the client is closed that sends a text; absent where the service has closed the socket before. */
  readonly intruder?: Close
  /** How the service ends a stream by itself. */
  readonly end?: Close
}

const unexpected: Close = { code: 1008, reason: "unexpected data message" }
const oneWay: Close = { code: 1002, reason: "Clients cannot send messages for one-way WebSockets" }

export const oneWayRecordings: ReadonlyArray<OneWayRecording> = [
  {
    name: "the watch of a workspace",
    path: "/workspaces/{workspace}/watch-ws",
    first: [
      { type: "ping", data: null },
      { type: "data", data: { id: "{workspace}", latest_build: "…", health: "…" } }
    ],
    intruder: oneWay
  },
  {
    name: "the watch of metadata",
    path: "/workspaceagents/{agent}/watch-metadata-ws",
    first: [
      {
        type: "data",
        data: [
          {
            result: { collected_at: "…", age: "…", value: "", error: "" },
            description: { display_name: "Load", key: "load", script: "echo 0.5", interval: 5, timeout: 2 }
          }
        ]
      }
    ],
    intruder: oneWay
  },
  { name: "logs of an agent that has written none", path: "/workspaceagents/{agent}/logs?follow", first: [[]], intruder: unexpected },
  {
    name: "logs of an agent",
    path: "/workspaceagents/{agent}/logs?follow",
    logged: true,
    first: [[{ id: "…", created_at: "…", output: "starting up", level: "info", source_id: "…" }]],
    intruder: unexpected
  },
  {
    name: "the watch of the way to an agent",
    path: "/workspaces/{workspace}/agent-connection-watch",
    first: [
      { error: null, build_update: { transition: "start", job_status: "succeeded" } },
      { error: null, agent_update: { lifecycle: "…", id: "{agent}" } }
    ],
    intruder: unexpected
  },
  {
    name: "logs of a finished build",
    path: "/workspacebuilds/{build}/logs?follow",
    first: [],
    end: { code: 1000, reason: "done" }
  }
]

/** Refusals of `workspaceagents/me/rpc` before the upgrade. */
export const refusedConnections = [
  { name: "no token", query: "?version=2.0", token: undefined, status: 401 },
  { name: "a token that is no UUID", query: "?version=2.0", token: "nonsense", status: 401 },
  { name: "a token of no agent", query: "?version=2.0", token: "d79a56eb-bf67-4511-80e6-055bde0c414f", status: 401 },
  { name: "a major version beyond the server's", query: "?version=3.0", token: "agent", status: 400 }
] as const

/** Pings and the end of sockets whose clients answer none, in milliseconds since they were opened. */
export const liveness = {
  /** `kind` names how the socket is written: documents, events, or the agent's bytes. */
  sockets: [
    { kind: "documents", pings: [15_000], close: { at: 30_000, code: 1001, reason: "liveness probe failed" } },
    { kind: "events", pings: [15_000], close: { at: 30_000, code: 1001, reason: "liveness probe failed" } },
    // The WebSocket of an agent is not pinged: yamux asks on top of it. Recorded were 30 and 40 seconds; a lost network should be noticed sooner
    { kind: "agent", pings: [5_000], close: { at: 13_000, code: 1000, reason: "" } }
  ]
} as const
