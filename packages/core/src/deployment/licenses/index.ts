export * from "./License.js"
export * from "./Licenses.js"
export { TrialAnswer, TrialIssuer, type TrialRequest } from "./Trial.js"
