export * from "./History.js"
export { makeSetting, type Setting } from "./Setting.js"
export { failEachLoop, type FailedLoop } from "./Loops.js"
export { type Model, type Operation, unplaced } from "./Linearizability.js"
