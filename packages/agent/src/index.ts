/**
 * The workspace agent: a process inside a workspace that connects to the server, runs the workspace's scripts and reports how it does.
 *
 * @example
 * const agent = Effect.runFork(Agent.run(config))
 * // later: shuts the workspace down, stop scripts included
 * yield* Fiber.interrupt(agent)
 */
export * as Agent from "./Agent.js"
export * as AgentConfig from "./AgentConfig.js"
export * as Brand from "./Brand.js"
export * as OwnPorts from "./streams/OwnPorts.js"
export { version } from "./Version.js"
