export { builderParts } from "./BuilderParts.js"
export { starterTemplates } from "./StarterTemplates.js"
