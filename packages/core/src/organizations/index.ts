export * from "./Organization.js"
export * from "./OrganizationRepository.js"
export * from "./Organizations.js"
