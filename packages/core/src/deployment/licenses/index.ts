export * from "./License.js"
export * from "./Licenses.js"
