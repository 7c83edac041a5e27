export * from "./History.js"
export { makeSetting, type Setting } from "./Setting.js"
