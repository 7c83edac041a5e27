export * as Archive from "./Archive.js"
export * as Interpolation from "./Interpolation.js"
